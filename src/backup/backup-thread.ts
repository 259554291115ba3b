/** The worker thread that makes one backup. */
import { type BackupProgress, type BackupWork, type MadeBackup, makeBackup } from './make.ts';

declare const self: Worker;

export type ThreadNews =
  | { readonly kind: 'progress'; readonly progress: BackupProgress }
  | { readonly kind: 'made'; readonly made: MadeBackup }
  /** `isTold` marks a message for operators; without it, the failure is a defect of ours. */
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
