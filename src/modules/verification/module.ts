/** Verifies tokens and keys live, for this server's own calls and for backends. */
import { SECOND } from '../../core/clock.ts';
import type { Module, ModuleContext } from '../module.ts';
import { type FirstVerified, firstVerified } from './first-verified.ts';
import { type LastSeen, lastSeen } from './last-seen.ts';
import { verificationRoutes } from './routes.ts';
import { type Verification, verificationService } from './service.ts';

interface Recorded {
  /** Where the uses and verdicts that threads note are recorded. */
  readonly notes: { readonly seen: LastSeen; readonly first: FirstVerified };
  flushLastSeen(): Promise<void>;
  flushFirstVerified(): Promise<void>;
}

export function verificationModule(context: ModuleContext): Module & { readonly service: Verification & Recorded } {
  const { db } = context;
  const [seen, first] = [lastSeen(db), firstVerified(db)];
  const service = verificationService({ ...context, reader: db.reader, seen, first });
  return {
    service: { ...service, notes: { seen, first }, flushLastSeen: seen.flush, flushFirstVerified: first.flush },
    operations: verificationRoutes(service),
    jobs: [
      { name: 'last seen', everyMs: SECOND, runOnce: () => seen.flush() },
      { name: 'first verifications', everyMs: SECOND, runOnce: () => first.flush() },
    ],
    flush: {
      of: 'last-seen times',
      async run(deadline) {
        const left = await seen.flushAll(deadline);
        // A database that takes nothing has been reported by now.
        if (deadline.remainingMs() > 0) await first.flush().catch(() => {});
        return left;
      },
    },
  };
}
