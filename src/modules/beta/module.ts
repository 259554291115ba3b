/** Access before an application is public: the sign-in gate and its waitlist. */
import { workspaceMail } from '../../mail/workspace-mail.ts';
import type { Module, ModuleContext } from '../module.ts';
import { standingLimit, waitlistLimit } from './waitlist-limit.ts';
import { betaRoutes } from './routes.ts';
import { type Beta, betaService } from './service.ts';
import { type WaitlistStandings, waitlistStandings } from './standing.ts';
import { type BetaTasks, betaTasks } from './background-tasks.ts';

export function betaModule({
  db,
  clock,
  limiter,
  limits,
  baseUrl,
  instanceKey,
}: ModuleContext): Module &
  Pick<BetaTasks, 'openToPublic'> & { readonly service: Beta; readonly standings: WaitlistStandings } {
  const mails = workspaceMail(limits.mailsPerWorkspace);
  const tasks = betaTasks(mails, baseUrl);
  const service = betaService({ db, tasks });
  const standings = waitlistStandings({ db, clock, instanceKey });
  return {
    service,
    standings,
    operations: betaRoutes({
      beta: service,
      limitInterest: waitlistLimit(limiter, limits),
      standings,
      limitStanding: standingLimit(limiter, limits),
      mailStanding: ({ workspaceId }) => mails.standing(db.reader, workspaceId, clock.now()),
    }),
    tasks: tasks.tasks,
    openToPublic: tasks.openToPublic,
  };
}
