/** Finds the kind of file system of a folder: a database needs reliable locks and flushes. */
import { readFileSync, realpathSync } from 'node:fs';

export interface FileSystem {
  /** Name in the system, such as `ext4` or `nfs4`. */
  readonly type: string;
  /** `network`: unsafe locks and flushes. `shared`: another system's. `fleeting`: lost with machine or container. */
  readonly kind: 'local' | 'network' | 'shared' | 'fleeting';
}

const NETWORK =
  /^(?:nfs\d?|cifs|smb\d?|smbfs|ncpfs|afs|ceph|lustre|beegfs|gpfs|glusterfs|orangefs|coda|davfs2?|fuse|fuse\..+)$/;
/** FUSE file systems on local disks. */
const LOCAL_FUSE = /^fuse\.(?:fuse-overlayfs|fuse2fs|ntfs-3g|exfat|lxcfs)$/;
const SHARED = /^(?:9p|virtiofs|vboxsf|vmhgfs|prl_fs|drvfs|fuse\.(?:vmhgfs-fuse|osxfs|grpcfuse))$/;
const FLEETING = /^(?:tmpfs|ramfs|overlay|aufs|fuse\.fuse-overlayfs)$/;

export function kindOfFileSystem(type: string): FileSystem['kind'] {
  if (SHARED.test(type)) return 'shared';
  if (FLEETING.test(type)) return 'fleeting';
  return NETWORK.test(type) && !LOCAL_FUSE.test(type) ? 'network' : 'local';
}

/** @returns null where the system does not tell: only Linux does. */
export function fileSystemOf(folder: string, mounts = readMounts()): FileSystem | null {
  if (mounts === null) return null;
  const type = typeAt(realpathSync(folder), mounts);
  return type === null ? null : { type, kind: kindOfFileSystem(type) };
}

function readMounts(): string | null {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return null;
  }
}

/** Returns the type of the longest mount point on the path; of several at one, the last hides the others (proc(5)). */
function typeAt(path: string, mounts: string): string | null {
  let best: { readonly place: string; readonly type: string } | null = null;
  for (const line of mounts.split('\n')) {
    const [, head, type] = /^(.*?) - (\S+) /.exec(line) ?? [];
    const place = head
      ?.split(' ')[4]
      ?.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)));
    if (place === undefined || type === undefined) continue;
    const leads = place === '/' || path === place || path.startsWith(`${place}/`);
    if (leads && place.length >= (best?.place.length ?? 0)) best = { place, type };
  }
  return best?.type ?? null;
}
