/** Workspaces and their members. */
import type { Applications } from '../applications/service.ts';
import type { Module, World } from '../module.ts';
import { memberService } from './members.ts';
import { workspaceRoutes } from './routes.ts';
import { type Workspaces, workspaceService } from './service.ts';

export function workspaceModule(
  { db, baseUrl }: World,
  { applications }: { applications: Applications },
): Module & { readonly service: Workspaces } {
  const service = workspaceService({ db, applications });
  const members = memberService({ db, consoleId: service.consoleId, baseUrl });
  return { service, operations: workspaceRoutes(service, members) };
}
