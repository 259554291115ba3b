/** Answers the MCP methods: tools, tool calls and resources. */
import type { KeyPrincipal, PersonalKeyPrincipal } from '../../core/principal.ts';
import type { InternalCalls } from '../../http/internal-calls.ts';
import type { Operation } from '../../http/operation.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { ProtocolError } from './protocol.ts';
import { callTool } from './calls.ts';
import { instructionsText } from './instructions.ts';
import { mcpResources } from './resources.ts';
import { toolsOf } from './tools.ts';
import { viewOfKey, sees } from './visibility.ts';

export interface AgentCall {
  readonly principal: KeyPrincipal | PersonalKeyPrincipal;
  readonly context: RequestContext;
}

export interface AgentService {
  instructions(): string;
  /** @returns the result as JSON. @throws {ProtocolError} */
  answer(method: string, params: unknown, call: AgentCall): Promise<string>;
}

export interface AgentDependencies {
  readonly baseUrl: () => string;
  readonly internal: Pick<InternalCalls, 'call'>;
  readonly operations: () => readonly Operation[];
}

const INVALID_PARAMS = -32602;

export function agentService({ baseUrl, internal, operations }: AgentDependencies): AgentService {
  // Built once, at the first call: operations do not change while the process runs.
  let made: ReturnType<typeof toolsOf> | undefined;
  const tools = () => (made ??= toolsOf(operations()));
  /** Tool lists as JSON, by kind of key: at most four, a few dozen KB each. */
  const lists = new Map<string, string>();
  const documents = mcpResources({ baseUrl, internal, operations });

  async function list({ principal }: AgentCall): Promise<string> {
    const all = [...(await tools()).values()];
    const view = viewOfKey(principal);
    const name = `${view.access} ${view.isWorkspace}`;
    let text = lists.get(name);
    if (text === undefined) {
      const seen = all.filter(({ operation }) => sees(view, operation));
      lists.set(name, (text = JSON.stringify({ tools: seen.map(({ definition }) => definition) })));
    }
    return text;
  }

  async function call(params: unknown, { context }: AgentCall): Promise<string> {
    const { name = '', arguments: given = {} } = params as { name?: string; arguments?: Record<string, unknown> };
    const tool = (await tools()).get(name);
    if (tool === undefined)
      throw new ProtocolError(INVALID_PARAMS, `There is no tool ${JSON.stringify(name)}; see tools/list.`);
    return JSON.stringify(await callTool(tool, given, (request) => internal.call(context, request)));
  }

  return {
    instructions: () => instructionsText(baseUrl()),
    async answer(method, params, caller) {
      switch (method) {
        case 'tools/list':
          return list(caller);
        case 'tools/call':
          return call(params, caller);
        case 'resources/list':
          return JSON.stringify({ resources: documents.list() });
        case 'resources/templates/list':
          return JSON.stringify({ resourceTemplates: [] });
        case 'resources/read':
          return JSON.stringify(await documents.read((params as { uri: string }).uri, caller.context));
        default:
          throw new ProtocolError(INVALID_PARAMS, 'This server does not do that.');
      }
    },
  };
}
