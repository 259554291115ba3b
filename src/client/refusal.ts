/** Base of the errors that hold the HTTP response to send to the caller. */
import { GatehouseError } from './errors.ts';

/** The parts of `http.ServerResponse` that are used. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/** Somebody was refused; holds the response to send. */
export abstract class Refusal extends GatehouseError {
  abstract readonly status: number;

  get headers(): Record<string, string> {
    return { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  }

  /** Response body `{success, error, message}`, in the server's format. */
  get body(): string {
    return JSON.stringify({ success: false, error: this.code, message: this.message });
  }

  /** Response for fetch-style handlers; a new one on each access. */
  get response(): Response {
    return new Response(this.body, { status: this.status, headers: this.headers });
  }

  /** Sends the response from a handler of `node:http` or a framework built on it. */
  sendTo(response: NodeResponse): void {
    response.writeHead(this.status, this.headers);
    response.end(this.body);
  }
}
