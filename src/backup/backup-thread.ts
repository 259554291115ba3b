/** The thread that makes a backup, and ends with it. */
import { type BackupProgress, type BackupWork, type MadeBackup, makeBackup } from './make.ts';

declare const self: Worker;

export type ThreadNews =
  | { readonly kind: 'progress'; readonly progress: BackupProgress }
  | { readonly kind: 'made'; readonly made: MadeBackup }
  /** `isTold` is said to operators as it is; else a fault of ours. */
  | { readonly kind: 'failed'; readonly message: string; readonly isTold: boolean };

const tell = (news: ThreadNews) => self.postMessage(news);

self.onmessage = async ({ data }: MessageEvent<BackupWork>) => {
  try {
    tell({ kind: 'made', made: await makeBackup(data, (progress) => tell({ kind: 'progress', progress })) });
  } catch (error) {
    const { name, message } = error as Error;
    tell({ kind: 'failed', message, isTold: name === 'StartupError' });
  }
};
