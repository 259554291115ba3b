/**
 * The thread that speaks the protocol, with its official library, which takes longer to load and to check messages with than the
 * loop may be held. It knows no tool and no key: what is asked for goes to the main thread and comes back as text.
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

/** To the thread: a message to be answered, and what it asked for on the way. */
export type ToThread =
  | {
      readonly kind: 'message';
      readonly id: number;
      /** As JSON: what a stranger has sent is copied as one text, not part by part. */
      readonly text: string;
      readonly headers: Record<string, string>;
      readonly version: string;
      readonly instructions: string;
    }
  | { readonly kind: 'result'; readonly id: number; readonly text: string }
  | { readonly kind: 'error'; readonly id: number; readonly code: number; readonly message: string };

/** From the thread: what a message needs, with its own parameters, at most once; and then its answer. */
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

/** For what clients are asked in forms, which this server never does; the library's own takes milliseconds to make. */
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

/** What is wrong with the parameters of a method that is served here, which the library would call a fault of ours. */
function wrongParameters(message: unknown): string | null {
  const { id, method } = message as { readonly id?: unknown; readonly method?: unknown };
  const schema = ASKED.find((one) => one.shape.method.value === method);
  const issue = schema?.safeParse(message).error?.issues[0];
  if (issue === undefined) return null;
  const text = `Invalid params: ${issue.path.join('.')}: ${issue.message}`;
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code: ErrorCode.InvalidParams, message: text } });
}

/** One server and one transport for each message: nothing is kept of a client. */
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
  // Its types know no optional properties that are set to undefined.
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
