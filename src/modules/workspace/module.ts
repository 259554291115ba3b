import { workspaceMail } from '../../mail/workspace-mail.ts';
import type { Applications } from '../applications/service.ts';
import type { Module, ModuleContext } from '../module.ts';
import { creationLimit } from './creation-limit.ts';
import { memberService } from './members.ts';
import { workspaceRoutes } from './routes.ts';
import { type Workspaces, workspaceService } from './service.ts';

export function workspaceModule(
  { db, clock, baseUrl, limits }: ModuleContext,
  { applications }: { applications: Applications },
): Module & { readonly service: Workspaces } {
  const creation = creationLimit(limits);
  const service = workspaceService({ db, applications, creation });
  const members = memberService({
    db,
    clock,
    mails: workspaceMail(limits.mailsPerWorkspace),
    consoleId: service.consoleId,
    baseUrl,
  });
  return { service, operations: workspaceRoutes(service, members) };
}
