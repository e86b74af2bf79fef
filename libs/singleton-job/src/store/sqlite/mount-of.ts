import { existsSync, readFileSync } from 'node:fs';

const MOUNTS_OF_LINUX = '/proc/self/mountinfo';

/**
 * File systems that several hosts share, a virtual machine and its host too, by the names of Linux. A lock of one may
 * not hold on another, and their processes share no memory, which WAL needs: files on virtiofs get corrupt.
 */
const NETWORKS =
  /^(nfs4?|smbfs|smb3|cifs|9p|ceph|afs|lustre|vboxsf|virtiofs|fakeowner|fuse\.(virtiofs|grpcfuse|osxfs|sshfs|s3fs|gcsfuse|rclone|glusterfs|ceph.*))$/;

/** Which of them a path without links is on. Undefined: none, or the system does not tell. */
export function networkAt(path: string, mounts = mountsOfSystem()): string | undefined {
  const [mount] = [...mounts.matchAll(/^(?:\S+ ){4}(\S+) .*? - (\S+)/gm)]
    .map(([, point = '', type = '']) => ({ type, folder: point.replaceAll('\\040', ' ').replace(/\/?$/, '/') }))
    .filter(({ folder }) => `${path}/`.startsWith(folder))
    // of two at one folder the later one counts
    .reverse()
    .sort((a, b) => b.folder.length - a.folder.length);
  return mount !== undefined && NETWORKS.test(mount.type) ? mount.type : undefined;
}

function mountsOfSystem(): string {
  return existsSync(MOUNTS_OF_LINUX) ? readFileSync(MOUNTS_OF_LINUX, 'utf8') : '';
}
