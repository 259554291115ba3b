/** Mail queue that sends while a mail server is set, and keeps mail in the outbox while none is. */
import type { MailQueue } from './queue.ts';
import type { MailServerInUse } from './server-in-use.ts';

export interface SwitchingQueueDependencies {
  readonly inUse: Pick<MailServerInUse, 'describe'>;
  readonly outbox: MailQueue;
  readonly sender: MailQueue;
}

export function switchingQueue({ inUse, outbox, sender }: SwitchingQueueDependencies): MailQueue {
  let isAsking = false;
  const current = async () => ((await inUse.describe()) === null ? outbox : sender);

  async function wakeCurrent(): Promise<void> {
    try {
      (await current()).wake();
    } catch {
      // The database is away; the job that wakes the queue tries again.
    } finally {
      isAsking = false;
    }
  }

  return {
    start: () => sender.start(),
    wake() {
      if (isAsking) return;
      isAsking = true;
      void wakeCurrent();
    },
    runOnce: async () => (await current()).runOnce(),
    async close(patienceMs) {
      await Promise.all([outbox.close(patienceMs), sender.close(patienceMs)]);
    },
  };
}
