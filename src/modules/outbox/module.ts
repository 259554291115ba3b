/** Shows a workspace its mails, and tests whether mail is delivered. */
import { workspaceMail } from '../../mail/workspace-mail.ts';
import type { Module, ModuleContext } from '../module.ts';
import { mailTestService } from './mail-test.ts';
import { outboxRoutes } from './routes.ts';
import { outboxService } from './service.ts';

export function outboxModule(context: ModuleContext, { consoleId }: { readonly consoleId: () => string }): Module {
  const { db, instance, limits } = context;
  const tests = mailTestService({ ...context, mails: workspaceMail(limits.mailsPerWorkspace) });
  return { operations: outboxRoutes(outboxService({ db, consoleId, instance }), tests) };
}
