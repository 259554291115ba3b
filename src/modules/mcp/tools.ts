/** Builds one tool for each management operation that a program can use, from the operation's declaration. */
import { yieldIfLong } from '../../core/event-loop.ts';
import {
  dangerOf,
  effectsOf,
  type Payload,
  isList,
  type Operation,
  WORKSPACE_PARAMETER,
} from '../../http/operation.ts';
import { documented } from '../description/openapi.ts';
import { type Arguments, argumentsOf, type ObjectSchema } from './arguments.ts';

export interface ToolDefinition {
  readonly name: string;
  /** Derived from the name of an operation; families have none. */
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    /** Both hints are given only for tools that change something. */
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: boolean;
  };
}

export interface Tool {
  readonly operation: Operation;
  readonly definition: ToolDefinition;
  readonly takes: Arguments;
  readonly isList: boolean;
  /** Says what the call destroys; such a call must be confirmed. */
  readonly danger: string | null;
  /** Says which access the call gives away; the call must be confirmed if it does. */
  readonly gift: Payload | null;
}

/** Returns what a call with these arguments destroys or gives away; null if it needs no confirmation. */
export function riskOf({ danger, gift }: Tool, given: Readonly<Record<string, unknown>>): string | null {
  const isGiven = gift !== null && (gift.fields?.some((name) => given[name] !== undefined) ?? true);
  return [danger, isGiven && gift.words].filter(Boolean).join(' ') || null;
}

/** The default page size for agents, who pay for every token they read. */
export const PAGE_SIZE = 25;

/** Returns whether an operation manages with JSON and a key: what commands can derive from. */
export function isPlainManagement(operation: Operation): boolean {
  const { access, consoleRole, upload, mediaType, isRedirect, style = 'envelope' } = operation;
  const isManagement = access === 'read' || access === 'full';
  return isManagement && !consoleRole && !upload && !mediaType && !isRedirect && style === 'envelope';
}

/** Accepts operations that a key may call with JSON in and out: no streams, files, pages or sign-in. */
export function isTool(operation: Operation): boolean {
  return isPlainManagement(operation) && !operation.isNoTool;
}

/** Returns the tools by name. Yields to the event loop while building them. */
export async function toolsOf(operations: readonly Operation[]): Promise<ReadonlyMap<string, Tool>> {
  const tools = new Map<string, Tool>();
  for (const operation of documented(operations).filter(isTool)) {
    tools.set(operation.id, toolOf(operation));
    await yieldIfLong();
  }
  return tools;
}

function toolOf(operation: Operation): Tool {
  const { id, summary, description, scope, limit } = operation;
  const { isReadOnly, isDestructive, isConfirmed, isIdempotent } = effectsOf(operation);
  const takes = argumentsOf(operation, {
    ...(isConfirmed && { confirm: CONFIRM }),
    ...(isList(operation) && { limit: LIMIT }),
    ...(scope === 'workspace' && { [WORKSPACE_PARAMETER]: WORKSPACE }),
  });
  const definition = {
    name: id,
    title: words(id),
    description: [`${summary}.`, description].filter(Boolean).join(' '),
    inputSchema: takes.schema,
    annotations: {
      readOnlyHint: isReadOnly,
      ...(!isReadOnly && { destructiveHint: isDestructive, idempotentHint: isIdempotent }),
      // Mails reach people; everything else stays in this server or goes where its owners configured.
      openWorldHint: limit === 'key_mail',
    },
  };
  return {
    operation,
    definition,
    takes,
    isList: isList(operation),
    danger: dangerOf(operation),
    gift: operation.gives ?? null,
  };
}

/** Returns `listUserSessions` as `List user sessions`. */
function words(id: string): string {
  const text = id.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const CONFIRM = { type: 'boolean', description: 'The person agreed.' };
const LIMIT = { type: 'integer', minimum: 1, maximum: 200, default: PAGE_SIZE };
const WORKSPACE = { type: 'string', description: 'Where a person is in several.' };
