/** The tools: one for each operation of management that a program can use, made from its declaration. */
import { yieldIfLong } from '../../core/turn.ts';
import { effectsOf, type Gift, isList, type Operation, WORKSPACE_PARAMETER } from '../../http/operation.ts';
import { documented } from '../description/openapi.ts';
import { type Arguments, argumentsOf, type ObjectSchema } from './arguments.ts';

/** A tool as clients are told of it. */
interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    /** These two are said of what changes something. */
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
  /** What is lost, in sentences: the call has to be confirmed. */
  readonly danger: string | null;
  /** What is given away: the call has to be confirmed where it gives it. */
  readonly gift: Gift | null;
}

/** Tells what a call with these arguments loses or gives away; null where it need not be confirmed. */
export function riskOf({ danger, gift }: Tool, given: Readonly<Record<string, unknown>>): string | null {
  const isGiven = gift !== null && (gift.fields?.some((name) => given[name] !== undefined) ?? true);
  return [danger, isGiven && gift.words].filter(Boolean).join(' ') || null;
}

/** How many of a list, where nothing is said: all of it is read by somebody who pays for every word. */
export const PAGE_SIZE = 25;

/** Those that a key can be for, and whose request and answer are JSON: no streams, files, pages or ways in of people. */
export function isTool(operation: Operation): boolean {
  const { access, consoleRole, upload, mediaType, isRedirect, isNoTool, style = 'envelope' } = operation;
  const isManagement = access === 'read' || access === 'full';
  return isManagement && !consoleRole && !upload && !mediaType && !isRedirect && !isNoTool && style === 'envelope';
}

/** By name. Made in slices. */
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
  const danger = isDestructive ? (operation.danger ?? `${summary}: this cannot be undone.`) : null;
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
      // Mails go to people; all else stays in this server, or goes where its owners said.
      openWorldHint: limit === 'key_mail',
    },
  };
  return { operation, definition, takes, isList: isList(operation), danger, gift: operation.gives ?? null };
}

/** `listUserSessions` as people read it: `List user sessions`. */
function words(id: string): string {
  const text = id.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const CONFIRM = { type: 'boolean', description: 'The person agreed.' };
const LIMIT = { type: 'integer', minimum: 1, maximum: 200, default: PAGE_SIZE };
const WORKSPACE = { type: 'string', description: 'Where a person is in several.' };
