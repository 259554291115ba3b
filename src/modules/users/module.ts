import { workspaceMail } from '../../mail/workspace-mail.ts';
import type { Module, ModuleContext } from '../module.ts';
import { bulkChangeRoutes } from './bulk-routes.ts';
import { bulkChangeService } from './bulk-service.ts';
import { changeUsers } from './bulk-task.ts';
import { batchChanges } from './bulk.ts';
import { userRoutes } from './routes.ts';
import { enterMembersTask, memberIndexJob } from './search-index.ts';
import { type Users, userService } from './service.ts';

export function usersModule(context: ModuleContext): Module & { readonly service: Users } {
  const service = userService({ ...context, mails: workspaceMail(context.limits.mailsPerWorkspace) });
  return {
    service,
    operations: [...userRoutes(service, batchChanges(context.db)), ...bulkChangeRoutes(bulkChangeService(context.db))],
    jobs: [memberIndexJob(context.db)],
    tasks: [changeUsers, enterMembersTask],
  };
}
