/** Serves the management API to agents as MCP tools, and its documentation as MCP resources. */
import type { Operation } from '../../http/operation.ts';
import type { Module, ModuleContext } from '../module.ts';
import { mcpRoutes } from './routes.ts';
import { agentService } from './service.ts';
import { protocol } from './protocol.ts';

export function mcpModule(context: ModuleContext, { operations }: { operations: () => readonly Operation[] }): Module {
  const { baseUrl, internal, instance, bodies } = context;
  const agents = agentService({ baseUrl, internal, operations });
  const spoken = protocol({ version: instance.version });
  return {
    operations: mcpRoutes({ agents, protocol: spoken, baseUrl, bodies }),
    stop: async () => spoken.close(),
  };
}
