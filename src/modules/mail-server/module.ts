import type { Module, ModuleContext } from '../module.ts';
import type { MailTests } from '../outbox/mail-test.ts';
import { mailServerRoutes } from './routes.ts';
import { mailServerService } from './service.ts';

export function mailServerModule(context: ModuleContext, { tests }: { readonly tests: MailTests }): Module {
  return { operations: mailServerRoutes(mailServerService({ ...context, tests }), context.db.reader) };
}
