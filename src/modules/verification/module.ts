/** Verifies tokens and keys live, for this server's own calls and for backends. */
import { SECOND } from '../../core/clock.ts';
import type { Module, ModuleContext } from '../module.ts';
import { verificationRoutes } from './routes.ts';
import { type Verification, verificationService } from './service.ts';

export function verificationModule(context: ModuleContext): Module & { readonly service: Verification } {
  const service = verificationService(context);
  return {
    service,
    operations: verificationRoutes(service),
    jobs: [
      { name: 'last seen', everyMs: SECOND, runOnce: () => service.flushLastSeen() },
      { name: 'first verifications', everyMs: SECOND, runOnce: () => service.flushFirstVerified() },
    ],
    flush: {
      of: 'last-seen times',
      async run(deadline) {
        const left = await service.flushAllLastSeen(deadline);
        // A database that takes nothing has been reported by now.
        if (deadline.remainingMs() > 0) await service.flushFirstVerified().catch(() => {});
        return left;
      },
    },
  };
}
