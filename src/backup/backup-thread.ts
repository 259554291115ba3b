/** The worker thread that makes one backup. */
import { type BackupProgress, type BackupWork, type MadeBackup, makeBackup } from './make.ts';

declare const self: Worker;

export type ThreadNews =
  | { readonly kind: 'progress'; readonly progress: BackupProgress }
  | { readonly kind: 'made'; readonly made: MadeBackup }
  /** `isForOperators` is false for a defect of this program. */
  | { readonly kind: 'failed'; readonly message: string; readonly isForOperators: boolean };

const report = (news: ThreadNews) => self.postMessage(news);

self.onmessage = async ({ data }: MessageEvent<BackupWork>) => {
  try {
    report({ kind: 'made', made: await makeBackup(data, (progress) => report({ kind: 'progress', progress })) });
  } catch (error) {
    const { name, message } = error as Error;
    report({ kind: 'failed', message, isForOperators: name === 'StartupError' });
  }
};
