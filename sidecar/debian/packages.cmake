# What CPack is told of the two packages.
set(CPACK_PACKAGE_NAME bellwether)
set(CPACK_PACKAGE_VENDOR "the Bellwether contributors")
set(CPACK_PACKAGE_CONTACT
  "Bellwether maintainers <maintainers@users.noreply.a-seed-75cb3832.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL bellwether libbellwether-dev)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
# Below DESTDIR, because /etc is not below /usr.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_BELLWETHER_PACKAGE_NAME bellwether)
set(CPACK_DEBIAN_BELLWETHER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_BELLWETHER_PACKAGE_SHLIBDEPS ON)
# For systemd-sysusers, which any of the three has.
set(CPACK_DEBIAN_BELLWETHER_PACKAGE_DEPENDS
  "systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_BELLWETHER_PACKAGE_SUGGESTS "prometheus, libbellwether-dev")
set(CPACK_DEBIAN_BELLWETHER_DESCRIPTION
  "leader election for the replicas of an application, as a sidecar
A small process runs beside each replica of an application; they find out
among themselves which one leads, by the bully algorithm, in a choice of two
variants. The application reads whether it leads from a flag in shared memory,
or asks a local HTTP API. With named voters no two replicas lead at the same
instant. Nothing else is needed: no etcd, no ZooKeeper, no Kubernetes API.
.
The service is not started before it has a configuration.")
set(CPACK_DEBIAN_BELLWETHER_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_LIST_DIR}/conffiles;${CMAKE_CURRENT_LIST_DIR}/postinst"
  "${CMAKE_CURRENT_LIST_DIR}/prerm;${CMAKE_CURRENT_LIST_DIR}/postrm")
set(CPACK_DEBIAN_BELLWETHER_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_LIBBELLWETHER-DEV_PACKAGE_NAME libbellwether-dev)
set(CPACK_DEBIAN_LIBBELLWETHER-DEV_PACKAGE_SECTION libdevel)
if(CMAKE_INSTALL_LIBDIR STREQUAL "lib")  # all text, and none of it names an architecture
  set(CPACK_DEBIAN_LIBBELLWETHER-DEV_PACKAGE_ARCHITECTURE all)
endif()
set(CPACK_DEBIAN_LIBBELLWETHER-DEV_PACKAGE_SUGGESTS "bellwether, cmake, pkg-config")
set(CPACK_DEBIAN_LIBBELLWETHER-DEV_DESCRIPTION
  "headers for readers of Bellwether's leader flag and for election plugins
leader_flag.h reads, in C or C++, whether this replica leads;
election_plugin.h is the interface of election plugins. Both are headers only,
found by CMake and by pkg-config.")

include(CPack)
