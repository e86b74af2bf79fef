import { describe, expect, it } from '@jest/globals';
import { networkAt } from './mount-of.js';

const mountsOf = (type: string) => `
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /mnt rw - autofs systemd-1 rw
31 30 0:41 /jobs /mnt rw,relatime shared:2 master:1 - ${type} host:/jobs rw
32 31 0:42 / /mnt/my\\040disk rw,relatime - ext4 /dev/vdb rw
`;

describe('A network file system', () => {
  it.each([
    ...['nfs', 'nfs4', 'smb3', 'cifs', '9p', 'ceph', 'afs', 'lustre', 'vboxsf', 'virtiofs', 'fakeowner'],
    ...['fuse.virtiofs', 'fuse.grpcfuse', 'fuse.sshfs', 'fuse.s3fs', 'fuse.ceph-fuse'],
  ])('is %s', (type) => {
    expect(networkAt('/mnt/jobs.db', mountsOf(type))).toBe(type);
  });

  it.each(['ext4', 'xfs', 'overlay', 'tmpfs', 'fuse.fuse-overlayfs', 'fuseblk', 'gpfs', 'ocfs2'])(
    'is not %s',
    (type) => {
      expect(networkAt('/mnt/jobs.db', mountsOf(type))).toBeUndefined();
    },
  );

  it('is that of the innermost mount', () => {
    expect(networkAt('/mnt', mountsOf('nfs'))).toBe('nfs');
    expect(networkAt('/mnt/my disk/jobs.db', mountsOf('nfs'))).toBeUndefined();
    expect(networkAt('/mnt2/jobs.db', mountsOf('nfs'))).toBeUndefined();
    expect(networkAt('/mnt/jobs.db', '')).toBeUndefined();
  });
});
