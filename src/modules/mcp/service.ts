/** Answers the MCP methods: tools, tool calls and resources. */
import type { KeyPrincipal, PersonalKeyPrincipal } from '../../core/principal.ts';
import type { InternalCalls } from '../../http/internal-calls.ts';
import type { Operation } from '../../http/operation.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { ProtocolError } from './protocol.ts';
import { callTool, refused, type ToolResult } from './calls.ts';
import { ACTION, FAMILIES, type Family, familyDefinition } from './families.ts';
import { instructionsText } from './instructions.ts';
import { mcpResources } from './resources.ts';
import { type Tool, type ToolDefinition, toolsOf } from './tools.ts';
import { viewOfKey, sees } from './visibility.ts';

/** Choices that the address of a connection makes. */
export interface ToolChoice {
  /** One tool for each operation, instead of families. */
  readonly isEach: boolean;
  /** Only tools that change nothing. */
  readonly isReadOnly: boolean;
}

export interface AgentCall extends ToolChoice {
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
  /** Tool lists as JSON, by kind of key and choice: at most sixteen, a few dozen KB each. */
  const lists = new Map<string, string>();
  const documents = mcpResources({ baseUrl, internal, operations });

  async function list({ principal, isEach, isReadOnly }: AgentCall): Promise<string> {
    const all = [...(await tools()).values()];
    const view = viewOfKey(principal);
    const name = `${view.access} ${view.isWorkspace} ${isEach} ${isReadOnly}`;
    let text = lists.get(name);
    if (text === undefined) {
      const seen = all.filter((tool) => sees(view, tool.operation) && (!isReadOnly || readsOnly(tool)));
      lists.set(
        name,
        (text = JSON.stringify({ tools: isEach ? seen.map(({ definition }) => definition) : joined(seen) })),
      );
    }
    return text;
  }

  /** Operations are called by their own names too: documentation and older clients know these. */
  async function call(params: unknown, { context, isEach, isReadOnly }: AgentCall): Promise<string> {
    const { name = '', arguments: args = {} } = params as { name?: string; arguments?: Record<string, unknown> };
    const all = await tools();
    const family = isEach ? undefined : FAMILIES.find((one) => one.name === name);
    const { [ACTION]: action, ...rest } = args;
    const isAction = family?.actions.some((one) => one === action) ?? false;
    if (family && !isAction) return JSON.stringify(withoutAction(family));
    const tool = all.get(family ? String(action) : name);
    if (tool === undefined)
      throw new ProtocolError(INVALID_PARAMS, `There is no tool ${JSON.stringify(name)}; see tools/list.`);
    if (isReadOnly && !readsOnly(tool)) return JSON.stringify(refused({ error: 'forbidden', message: READS_ONLY }));
    const called = { tool, name, given: family ? rest : args, callOf: (id: string) => nameOf(id, isEach) };
    return JSON.stringify(await callTool(called, (request) => internal.call(context, request)));
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

const READS_ONLY = 'This connection only reads: its address says readonly. Nothing was done.';

function readsOnly({ definition }: Tool): boolean {
  return definition.annotations.readOnlyHint;
}

/** Returns the tools with families in the place of their members. */
function joined(seen: readonly Tool[]): ToolDefinition[] {
  const families = FAMILIES.map((family) => ({
    family,
    members: family.actions.flatMap((id) => seen.filter(({ operation }) => operation.id === id)),
  }));
  const inFamily = new Set(FAMILIES.flatMap(({ actions }) => actions));
  return [
    ...seen.filter(({ operation }) => !inFamily.has(operation.id)).map(({ definition }) => definition),
    ...families
      .filter(({ members }) => members.length > 0)
      .map(({ family, members }) => familyDefinition(family, members)),
  ];
}

/** Returns how to call an operation, in words. */
function nameOf(operationId: string, isEach: boolean): string {
  const family = isEach ? undefined : FAMILIES.find(({ actions }) => actions.includes(operationId));
  return family ? `${family.name} with action ${operationId}` : operationId;
}

function withoutAction({ actions }: Family): ToolResult {
  const fields = [{ path: ACTION, message: `Give one of: ${actions.join(', ')}.` }];
  return refused({ error: 'invalid_request', message: 'The action is missing or unknown; nothing was done.', fields });
}
