/** Access before an application is public: the sign-in gate and its waitlist. */
import { workspaceMail } from '../../mail/workspace-mail.ts';
import type { Module, World } from '../module.ts';
import { interestLimit } from './interest-limit.ts';
import { betaRoutes } from './routes.ts';
import { type Beta, betaService } from './service.ts';
import { type BetaTasks, betaTasks } from './background-tasks.ts';

export function betaModule({
  db,
  clock,
  limiter,
  limits,
  baseUrl,
}: World): Module & Pick<BetaTasks, 'openToPublic'> & { readonly service: Beta } {
  const mails = workspaceMail(limits.mailsPerWorkspace);
  const tasks = betaTasks(mails, baseUrl);
  const service = betaService({ db, tasks });
  return {
    service,
    operations: betaRoutes({
      beta: service,
      limitInterest: interestLimit(limiter, limits),
      mailStanding: ({ workspaceId }) => mails.standing(db.reader, workspaceId, clock.now()),
    }),
    tasks: tasks.tasks,
    openToPublic: tasks.openToPublic,
  };
}
