/** Access before an application is public: the sign-in gate and its waitlist. */
import { workspaceMail } from '../../mail/workspace-mail.ts';
import type { Module, ModuleContext } from '../module.ts';
import { waitlistLimit } from './waitlist-limit.ts';
import { betaRoutes } from './routes.ts';
import { type Beta, betaService } from './service.ts';
import { type BetaTasks, betaTasks } from './background-tasks.ts';

export function betaModule({
  db,
  clock,
  limiter,
  limits,
  baseUrl,
}: ModuleContext): Module & Pick<BetaTasks, 'openToPublic'> & { readonly service: Beta } {
  const mails = workspaceMail(limits.mailsPerWorkspace);
  const tasks = betaTasks(mails, baseUrl);
  const service = betaService({ db, tasks });
  return {
    service,
    operations: betaRoutes({
      beta: service,
      limitInterest: waitlistLimit(limiter, limits),
      mailStanding: ({ workspaceId }) => mails.standing(db.reader, workspaceId, clock.now()),
    }),
    tasks: tasks.tasks,
    openToPublic: tasks.openToPublic,
  };
}
