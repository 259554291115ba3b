/** The MCP endpoint. It is stateless and opens no stream, so `GET` and `DELETE` are answered 405. */
import { Type } from '@sinclair/typebox';
import { AppError } from '../../core/error.ts';
import type { BodyReader } from '../../http/body-reader.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { isFromOwnPage } from '../../http/csrf.ts';
import { Choice } from '../../http/schemas.ts';
import type { Protocol } from './protocol.ts';
import type { AgentService } from './service.ts';

export interface McpDependencies {
  readonly agents: AgentService;
  readonly protocol: Protocol;
  readonly baseUrl: () => string;
  readonly bodies: BodyReader;
}

/** The only request headers that the transport reads and is given. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version'];

/** Parameters of the address of a connection. */
const Choices = Type.Object({
  tools: Type.Optional(Choice(['all'])),
  readonly: Type.Optional(Choice(['1', 'true'])),
});

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

export function mcpRoutes({ agents, protocol, baseUrl, bodies }: McpDependencies): Operation[] {
  return [
    operation({
      id: 'callMcp',
      method: 'POST',
      path: '/mcp',
      summary: 'One message of the Model Context Protocol',
      tag: 'Descriptions',
      access: 'agent',
      scope: 'instance',
      limit: 'key',
      style: 'flat',
      query: Choices,
      errors: ['forbidden', 'unavailable'],
      isUndocumented: true,
      async handle({ principal, context, query }) {
        const { request, headers } = context;
        // Required by MCP's streamable HTTP transport: protects local servers from DNS rebinding by web pages.
        if (request.headers.has('origin') && !isFromOwnPage(request, baseUrl()))
          throw new AppError('forbidden', { hint: 'origin_elsewhere' });
        let message: unknown;
        try {
          message = oneMessage(await bodies.read(context, principal));
        } catch (error) {
          // Errors unrelated to the message keep the usual envelope and its Retry-After.
          if (!(error instanceof AppError) || error.retryAfterSeconds !== undefined) throw error;
          return refusal(error, headers);
        }
        const choice = { isEach: query.tools === 'all', isReadOnly: query.readonly !== undefined };
        const { status, text } = await protocol.answer(
          { message, headers: shown(request.headers), instructions: agents.instructions() },
          (method, params) => agents.answer(method, params, { principal, context, ...choice }),
        );
        return text === ''
          ? new Response(null, { status, headers })
          : new Response(text, { status, headers: { ...headers, 'Content-Type': 'application/json' } });
      },
    }),
  ];
}

/** Refuses batches, which would count as one call for the rate limit. @throws {AppError} invalid_request */
function oneMessage(message: unknown): unknown {
  if (message === undefined) throw new AppError('invalid_request', { hint: 'body_not_json' });
  if (Array.isArray(message) || typeof message !== 'object' || message === null)
    throw new AppError('invalid_request', { hint: 'batch_refused' });
  return message;
}

function refusal({ status, code, hint, message }: AppError, headers: Record<string, string>): Response {
  const error = {
    code: hint === 'body_not_json' ? PARSE_ERROR : INVALID_REQUEST,
    message,
    data: { error: code },
  };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status, headers });
}

function shown(headers: Headers): Record<string, string> {
  return Object.fromEntries(HEADERS.map((name) => [name, headers.get(name) ?? '']).filter(([, value]) => value));
}
