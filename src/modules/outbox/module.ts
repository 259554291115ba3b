/** Shows a workspace its mails, and tests whether mail is delivered. */
import { workspaceMail } from '../../mail/workspace-mail.ts';
import type { Module, ModuleContext } from '../module.ts';
import { type MailTests, mailTestService } from './mail-test.ts';
import { outboxRoutes } from './routes.ts';
import { outboxService } from './service.ts';

export function outboxModule(
  context: ModuleContext,
  { consoleId }: { readonly consoleId: () => string },
): Module & { readonly tests: MailTests } {
  const { db, instance, limits } = context;
  const tests = mailTestService({ ...context, mails: workspaceMail(limits.mailsPerWorkspace) });
  return { tests, operations: outboxRoutes(outboxService({ db, consoleId, instance }), tests) };
}
