/** Carries out a tool call as an internal request with the caller's key, and turns the answer into a tool result. */
import { AppError } from '../../core/error.ts';
import type { InternalCall } from '../../http/internal-calls.ts';
import { requestOf } from './arguments.ts';
import { wrongIds } from './id-hints.ts';
import { PAGE_SIZE, riskOf, type Tool } from './tools.ts';

export interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

interface Refusal {
  readonly error: string;
  readonly message: string;
  readonly fields?: readonly { readonly path: string; readonly message: string }[];
  readonly requestId?: string;
}

export interface ToolCall {
  readonly tool: Tool;
  /** Name under which the caller called it: the tool's own, or that of its family. */
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
  /** Says how this caller calls an operation. */
  readonly callOf: (operationId: string) => string;
}

/** Returns refusals as results too, so that the caller can correct the call. */
export async function callTool(
  { tool, name, given: { confirm, ...given }, callOf }: ToolCall,
  send: (request: InternalCall) => Promise<Response>,
): Promise<ToolResult> {
  const { operation, takes, danger, gift } = tool;
  const risk = riskOf(tool, given);
  const isConfirmed = confirm === true;
  const all = {
    ...(tool.isList && { limit: PAGE_SIZE }),
    ...given,
    ...(danger === null && gift === null && confirm !== undefined && { confirm }),
  };
  let request: InternalCall;
  try {
    request = requestOf(operation, takes, all);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, fields } = error;
    return refused({ error: code, message, ...(fields && { fields }) });
  }
  if (risk !== null && !isConfirmed) return unconfirmed(name, risk);
  const response = await send(request);
  const answer = (await response.json()) as { success: true; data: unknown } | ({ success: false } & Refusal);
  if (answer.success) return done(name, answer.data);
  const { success: _, ...refusal } = answer;
  const fields = refusal.error === 'not_found' ? wrongIds(operation, given, callOf) : [];
  return refused({ ...refusal, ...(fields.length > 0 && { fields }) }, response.headers.get('retry-after'));
}

/** Gives the data as text and as structured content: clients pass on either one. */
function done(name: string, data: unknown): ToolResult {
  const structuredContent = isObject(data) ? data : { result: data };
  const { nextCursor } = structuredContent;
  const more = `There are more: call ${name} again with the same arguments and "cursor": ${JSON.stringify(nextCursor)}.`;
  const texts = [JSON.stringify(structuredContent), ...(typeof nextCursor === 'string' ? [more] : [])];
  return { content: texts.map(asText), structuredContent };
}

/** Tells a caller how to correct the call. */
export function refused(refusal: Refusal, retryAfter: string | null = null): ToolResult {
  const { error, message, fields = [], requestId } = refusal;
  const lines = [
    `${error}: ${message}`,
    ...fields.map((field) => `${field.path}: ${field.message}`),
    ...(retryAfter === null ? [] : [`Try again in ${retryAfter} seconds.`]),
    ...(requestId === undefined ? [] : [`Request ${requestId}.`]),
  ];
  const structuredContent = { ...refusal, ...(retryAfter !== null && { retryAfterSeconds: Number(retryAfter) }) };
  return { content: [asText(lines.join('\n'))], structuredContent, isError: true };
}

function unconfirmed(name: string, risk: string): ToolResult {
  const message = `Nothing was done. ${risk} Ask the person you act for; once they agree, call ${name} again with the same arguments and "confirm": true.`;
  return {
    content: [asText(message)],
    structuredContent: { error: 'confirmation_required', message },
    isError: true,
  };
}

function asText(text: string): { type: 'text'; text: string } {
  return { type: 'text', text };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
