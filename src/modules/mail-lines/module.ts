/** Lines that an application adds to its mails, and their preview. */
import type { Module, ModuleContext } from '../module.ts';
import { mailLineRoutes } from './routes.ts';
import { mailLineService } from './service.ts';

export function mailLinesModule(context: ModuleContext): Module {
  return { operations: mailLineRoutes(mailLineService(context)) };
}
