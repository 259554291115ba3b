/** Shows a workspace its mails, and tests whether mail is delivered. */
import { workspaceMail } from '../../mail/workspace-mail.ts';
import type { Module, World } from '../module.ts';
import { mailTestService } from './mail-test.ts';
import { outboxRoutes } from './routes.ts';
import { outboxService } from './service.ts';

export function outboxModule(world: World, { consoleId }: { readonly consoleId: () => string }): Module {
  const { db, instance, limits } = world;
  const tests = mailTestService({ ...world, mails: workspaceMail(limits.mailsPerWorkspace) });
  return { operations: outboxRoutes(outboxService({ db, consoleId, instance }), tests) };
}
