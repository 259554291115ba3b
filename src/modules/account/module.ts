/** People's own accounts: what they can see, prove, change, export and delete themselves. */
import type { CodeChallenges } from '../codes/code-challenge.ts';
import type { Module, ModuleContext } from '../module.ts';
import { confirmationService } from './confirmation.ts';
import { deletionService } from './deletion.ts';
import { emailChangeService } from './email.ts';
import { type EmailUndo, emailUndoService } from './email-undo.ts';
import { exportService } from './export.ts';
import { forgetSessions } from './forget-sessions.ts';
import { ownMembershipService } from './membership.ts';
import { type Overview, overviewService } from './overview.ts';
import { proofService } from './proof.ts';
import { accountRoutes } from './routes.ts';
import { ownSessionService } from './sessions.ts';

export function accountModule(
  context: ModuleContext,
  { challenges }: { challenges: CodeChallenges },
): Module & { readonly emailUndo: EmailUndo; readonly overview: Overview } {
  const { db, auditDays, notices } = context;
  const confirmations = confirmationService({ db, challenges, notices });
  const emailUndo = emailUndoService(context);
  const overview = overviewService(context);
  return {
    emailUndo,
    overview,
    operations: accountRoutes({
      overview,
      proofs: proofService(confirmations, notices),
      ownSessions: ownSessionService(context),
      emailChanges: emailChangeService({ confirmations, undo: emailUndo, notices }),
      ownMemberships: ownMembershipService(db),
      exports: exportService(db),
      deletions: deletionService({ confirmations, notices, auditDays }),
    }),
    tasks: [forgetSessions],
  };
}
