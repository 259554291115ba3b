/**
 * The worker thread for MCP's official library, whose load and validation times would block the event loop. It knows no
 * tools or keys: requests go to the main thread and come back as text.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type ServerResult,
} from '@modelcontextprotocol/sdk/types.js';

declare const self: Worker;

/** Messages to the thread: a request to answer, and the results of calls that it asked for. */
export type ToThread =
  | {
      readonly kind: 'message';
      readonly id: number;
      /** JSON: untrusted input is copied between threads as one string, not field by field. */
      readonly text: string;
      readonly headers: Record<string, string>;
      readonly version: string;
      readonly instructions: string;
    }
  | { readonly kind: 'result'; readonly id: number; readonly text: string }
  | { readonly kind: 'error'; readonly id: number; readonly code: number; readonly message: string };

/** Messages from the thread: at most one request for a result, and then the answer. */
export type FromThread =
  | { readonly kind: 'ask'; readonly id: number; readonly method: string }
  | { readonly kind: 'answer'; readonly id: number; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

const ASKED = [
  ListToolsRequestSchema,
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
] as const;

/** Replaces the library's form validator, which takes milliseconds to construct: this server never sends forms. */
const NO_VALIDATOR = {
  getValidator(): never {
    throw new Error('nothing is asked of clients');
  },
};

const asked = new Map<number, PromiseWithResolvers<ServerResult>>();

function ask(id: number, method: string): Promise<ServerResult> {
  const waiting = Promise.withResolvers<ServerResult>();
  asked.set(id, waiting);
  tell({ kind: 'ask', id, method });
  return waiting.promise;
}

function tell(message: FromThread): void {
  self.postMessage(message);
}

/** Returns an Invalid params error for a served method; the library would report an internal error. */
function wrongParameters(message: unknown): string | null {
  const { id, method } = message as { readonly id?: unknown; readonly method?: unknown };
  const schema = ASKED.find((one) => one.shape.method.value === method);
  const issue = schema?.safeParse(message).error?.issues[0];
  if (issue === undefined) return null;
  const text = `Invalid params: ${issue.path.join('.')}: ${issue.message}`;
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code: ErrorCode.InvalidParams, message: text } });
}

/** Uses one server and one transport per message: no client state is kept. */
async function answer(request: Extract<ToThread, { kind: 'message' }>): Promise<void> {
  const { id, text, headers, version, instructions } = request;
  const message: unknown = JSON.parse(text);
  const wrong = wrongParameters(message);
  if (wrong !== null) return tell({ kind: 'answer', id, status: 200, text: wrong });
  const server = new Server(
    { name: 'gatehouse', title: 'Gatehouse', version },
    { capabilities: { tools: {}, resources: {} }, instructions, jsonSchemaValidator: NO_VALIDATOR },
  );
  for (const schema of ASKED) server.setRequestHandler(schema, ({ method }: { method: string }) => ask(id, method));
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  // The transport's types clash with exactOptionalPropertyTypes.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  const sent = new Request('http://localhost/mcp', { method: 'POST', headers });
  const response = await transport.handleRequest(sent, { parsedBody: message });
  tell({ kind: 'answer', id, status: response.status, text: await response.text() });
  await server.close();
}

self.onmessage = ({ data }: MessageEvent<ToThread>) => {
  if (data.kind === 'message') {
    answer(data)
      .catch((error: unknown) => tell({ kind: 'failed', id: data.id, reason: String(error) }))
      .finally(() => asked.delete(data.id));
    return;
  }
  const waiting = asked.get(data.id);
  if (data.kind === 'result') waiting?.resolve(JSON.parse(data.text));
  else waiting?.reject(Object.assign(new Error(data.message), { code: data.code }));
};
