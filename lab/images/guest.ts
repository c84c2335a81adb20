import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { paths, repo } from '../paths.ts';
import { phase } from '../progress.ts';
import { debianRoot, log } from './build.ts';
import { inside } from './root.ts';

const folder = join(repo, 'lab', 'guest');

/** Kernel modules a guest of qemu may need, by the names modprobe knows. */
const MODULES =
  'evdev virtio_pci virtio_blk virtio_net virtio_console virtio_rng virtio_scsi sd_mod sr_mod ata_piix isofs vfat nls_cp437 nls_ascii nls_utf8 button';

/** "quiet", because every line on an emulated serial port takes time. */
const KERNEL_WORDS =
  'console=tty1 console=ttyS0,115200n8 quiet panic=5 mitigations=off tsc=unstable random.trust_cpu=on no_timer_check';

function files(): string {
  return readdirSync(folder)
    .sort()
    .map(
      name => `cat >/tmp/lab/${name} <<'END-OF-${name}'\n${readFileSync(join(folder, name), 'utf8')}END-OF-${name}\n`,
    )
    .join('');
}

const build = (): string => `
# The guest has a first file system of its own; making Debian's takes minutes.
export INITRD=No
apt-get -q update
apt-get -q install -y linux-image-cloud-amd64 busybox-static dropbear-bin syslinux syslinux-common mtools dosfstools fdisk cpio kmod
${files()}
kernel=$(ls /lib/modules | head -n 1)
tree=/tmp/lab/tree
mkdir -p $tree/bin $tree/sbin $tree/etc/dropbear $tree/root/.ssh $tree/usr/sbin $tree/usr/bin $tree/lib64 $tree/lib/modules/$kernel/kernel
cp /bin/busybox $tree/bin/
install -m 755 /tmp/lab/init $tree/init
install -m 755 /tmp/lab/lease $tree/sbin/lease
install -m 755 /tmp/lab/metadata /tmp/lab/curl /tmp/lab/blkid /tmp/lab/sudo $tree/bin/
cp /usr/sbin/dropbear $tree/usr/sbin/
cp /usr/bin/dropbearkey $tree/usr/bin/
ldd /usr/sbin/dropbear /usr/bin/dropbearkey | awk '/=> \\// {print $3} /^\\t\\/lib/ {print $1}' | sort -u | while read -r library; do
  mkdir -p $tree$(dirname $library); cp -L $library $tree$library
done
for module in ${MODULES}; do modprobe -S $kernel --show-depends $module 2>/dev/null || true; done \
  | awk '$1 == "insmod" {print $2}' | sort -u | while read -r file; do cp $file $tree/lib/modules/$kernel/kernel/; done
cp /lib/modules/$kernel/modules.builtin /lib/modules/$kernel/modules.order $tree/lib/modules/$kernel/
depmod -b $tree $kernel
printf 'root:x:0:0:root:/root:/bin/sh\\n' >$tree/etc/passwd
printf 'root:*:19000:0:99999:7:::\\n' >$tree/etc/shadow
printf 'root:x:0:\\n' >$tree/etc/group
printf '/bin/sh\\n' >$tree/etc/shells
printf 'passwd: files\\n' >$tree/etc/nsswitch.conf
cp -L /lib/x86_64-linux-gnu/libnss_files.so.2 $tree/lib/x86_64-linux-gnu/ 2>/dev/null || true
mkdir -p /out && cd $tree && find . -print0 | cpio --null -o -H newc -R 0:0 --quiet | gzip -9 >/out/initrd
cp /boot/vmlinuz-$kernel /out/vmlinuz
# A disk with one FAT partition that syslinux boots from.
cd /out
size=32
truncate -s \${size}M disk.raw
echo '2048,,0e,*' | sfdisk -q disk.raw
dd if=/usr/lib/SYSLINUX/mbr.bin of=disk.raw conv=notrunc bs=440 count=1 status=none
mkfs.vfat -F 16 -n BOOT --offset 2048 disk.raw $(( (size - 1) * 1024 )) >/dev/null
printf 'SERIAL 0 115200\\nDEFAULT guest\\nPROMPT 0\\nTIMEOUT 1\\nLABEL guest\\n KERNEL /vmlinuz\\n INITRD /initrd\\n APPEND ${KERNEL_WORDS}\\n' >syslinux.cfg
export MTOOLS_SKIP_CHECK=1
mcopy -i disk.raw@@1M vmlinuz initrd syslinux.cfg ::
syslinux --offset 1048576 --install disk.raw
qemu-img convert -c -f raw -O qcow2 disk.raw guest.qcow2
`;

/** One run under emulation with a network that ends inside qemu. Proves the image before Glance ever sees it. */
const boot = `
cd /out
timeout 240 qemu-system-x86_64 -M pc -accel tcg -m 192 -display none -serial stdio -no-reboot \
  -drive file=guest.qcow2,if=virtio,snapshot=on -nic user,model=virtio-net-pci,restrict=on | tee /out/console.log \
  | while read -r line; do case "$line" in *GUEST-READY*) pkill qemu-system; break ;; esac; done || true
grep -a GUEST- /out/console.log || true
grep -qa GUEST-DHCP-OK /out/console.log
grep -qa GUEST-SSHD-OK /out/console.log
grep -qa GUEST-READY /out/console.log
`;

/** A guest of 15 MB: Debian's cloud kernel, busybox, dropbear. Answers with the path of its qcow2. */
export async function guestImage(note?: (console: string) => void): Promise<string> {
  const debian = await debianRoot();
  const key = createHash('sha256')
    .update(JSON.stringify([debian, build(), boot]))
    .digest('hex')
    .slice(0, 12);
  const image = join(paths.images, `guest-${key}.qcow2`);
  if (existsSync(image)) return image;
  const work = join(paths.images, `guest-${key}.part`);
  rmSync(work, { recursive: true, force: true });
  const root = { lower: [join(debian, 'root')], upper: join(work, 'root') };
  await phase('guest:build', 'guest image', said => inside(root, build(), log, said));
  const said = await phase('guest:boot', 'first boot of the guest, emulated', said => inside(root, boot, log, said));
  note?.(said);
  renameSync(join(work, 'root', 'out', 'guest.qcow2'), image);
  rmSync(work, { recursive: true, force: true });
  return image;
}
