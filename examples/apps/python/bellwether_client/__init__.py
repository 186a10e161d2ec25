"""The leader flag of the sidecar beside this process, and this process's attachment to it.

    from bellwether_client import attachment, leader_flag

Both modules are the files beside this folder, which may be copied into an application instead.
"""
