import { shell } from '../../world/quote/shell.ts';

/** Where the claim's device is in the container. */
export const DEVICE = '/dev/openstack-volumes';

/** Sizes of Kubernetes are powers of 1024 with an i, those of truncate without. */
const truncated = (size: string): string => size.replace(/i$/, '');

/** Makes the group once, on the claim's device or on a file of the node; an existing group is used as it is. */
export const lvmStart = (group: string, backing: string | undefined, size: string | undefined): string => `set -eu
group=${shell(group)}
if ! vgs "$group" >/dev/null 2>&1; then
${
  backing
    ? `  [ -e ${shell(backing)} ] || truncate -s ${shell(truncated(size ?? ''))} ${shell(backing)}
  device=$(losetup -j ${shell(backing)} | cut -d: -f1)
  [ -n "$device" ] || device=$(losetup -f --show ${shell(backing)})`
    : `  device=${DEVICE}
  [ -b "$device" ] || { echo "volume group $group does not exist on this node"; exit 1; }`
}
  vgs "$group" >/dev/null 2>&1 || { pvcreate -y "$device"; vgcreate "$group" "$device"; }
fi
exec cinder-volume
`;
