#!/bin/sh
# Boots systemd, as the first process of namespaces that it is already in, on a copy of this
# machine: what it writes goes into memory, its processes, its /run, /tmp and /dev/shm are its own,
# and of the kernel it can change nothing that others share.
#
#   boot_systemd.sh FOLDER NAME CGROUPS       an empty folder; its host's name; v1 or v2
set -eu
folder=$1 name=$2 cgroups=$3
root=${folder}/root

mount --make-rprivate /
mount -t tmpfs -o mode=755 machine "${folder}"
mkdir "${folder}/upper" "${folder}/scratch" "${root}"
mount -t overlay -o "lowerdir=/,upperdir=${folder}/upper,workdir=${folder}/scratch" overlay \
  "${root}"

mount -t proc proc "${root}/proc"
# Else systemd sets what the kernel has once for all: fs.file-max, and what sysctl.d wants.
for file in sys sysrq-trigger irq bus; do
  [ ! -e "${root}/proc/${file}" ] || {
    mount --bind "${root}/proc/${file}" "${root}/proc/${file}"
    mount -o remount,bind,ro "${root}/proc/${file}"
  }
done
mount -t sysfs -o ro sysfs "${root}/sys"
if [ "${cgroups}" = v2 ]; then
  mount -t cgroup2 cgroup2 "${root}/sys/fs/cgroup"
else
  mount -t tmpfs -o mode=755 cgroup "${root}/sys/fs/cgroup"
  mkdir "${root}/sys/fs/cgroup/systemd"
  mount -t cgroup -o none,name=systemd cgroup "${root}/sys/fs/cgroup/systemd"
fi

mount -t tmpfs -o mode=755 dev "${root}/dev"
for device in null zero full random urandom tty; do
  touch "${root}/dev/${device}"
  mount --bind "/dev/${device}" "${root}/dev/${device}"
done
mkdir "${root}/dev/pts" "${root}/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "${root}/dev/pts"
ln -s pts/ptmx "${root}/dev/ptmx"
ln -s /proc/self/fd "${root}/dev/fd"
mount -t tmpfs -o mode=1777 shm "${root}/dev/shm"
mount -t tmpfs -o mode=755 run "${root}/run"
mount -t tmpfs -o mode=1777 tmp "${root}/tmp"

# None of this machine's own services, mounts and logs, nor what a sidecar may have left here.
mount -t tmpfs -o mode=755 units "${root}/etc/systemd/system"
mount -t tmpfs -o mode=755 log "${root}/var/log"
rm -rf "${root}"/etc/rc?.d "${root}/etc/init.d"
rm -rf "${root}/etc/bellwether" "${root}/var/lib/bellwether"
: >"${root}/etc/fstab"
echo "${name}" >"${root}/etc/hostname"
hostname "${name}"
ip link set lo up

cd "${root}"
mkdir old
pivot_root . old
umount --lazy /old
rmdir /old
# As systemd itself does it where it is not in a container: credentials are mounted from outside.
mount --make-rshared /
# Nor the clock, the kernel's modules, or its log.
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  setpriv --bounding-set=-sys_time,-sys_module,-sys_rawio,-syslog,-mac_admin,-mac_override \
  /lib/systemd/systemd --log-target=journal
