/** The main thread's side of one thread that verifies. */
import { SECOND } from '../core/clock.ts';
import type { CertificatePair } from '../http/listener.ts';
import { type Chunk, type HandOverFrame, frameSender } from './frames.ts';
import { CHECK_MS, heartbeatMemory, MOST_SILENT_CHECKS, silenceWatch } from './heartbeat.ts';
import type { ThreadReport, ThreadSettings, ThreadCommand } from './messages.ts';
import type { Notes } from './notes.ts';
import { type TakenOver, takenOver, type TakenOverOptions } from './taken-over.ts';

export interface ThreadOptions extends Omit<TakenOverOptions, 'sender'> {
  readonly number: number;
  readonly settings: ThreadSettings;
  readonly certificate: CertificatePair | null;
  readonly isReady: boolean;
  readonly spawn: () => Worker;
  readonly onNotes: (notes: Notes) => void;
  readonly onClosedIdle: (count: number) => void;
  /** Called once where the thread ends without having been stopped. */
  readonly onDeath: (reason: string) => void;
  /** Called once where a hung thread does not end when it is terminated, as in a system call that does not return. */
  readonly onStuck: () => void;
}

export interface Thread {
  /** Rejects with the error of listening, or where the thread ends before. */
  readonly listening: Promise<void>;
  readonly pending: TakenOver['pending'];
  post(message: ThreadCommand): void;
  /** Terminates the thread once its heartbeat was missing for too many checks. Call it every `CHECK_MS`. */
  check(): void;
  /** Resolves once no more requests arrive, or the thread has ended. */
  leave(): Promise<void>;
  /** Ends the thread after its last request; if forced, at once. Everything it has noted has arrived then. */
  stop(isForced: boolean): Promise<void>;
}

/** Starts a thread, which listens by itself. */
export function startThread(options: ThreadOptions): Thread {
  const { number, settings, certificate, isReady, spawn, onNotes, onClosedIdle, onDeath, onStuck } = options;
  const heartbeat = heartbeatMemory();
  const silentChecks = silenceWatch(heartbeat);
  const worker = spawn();
  const [listening, left, stopped] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  let isListening = false;
  let isStopping = false;
  let isOver = false;
  let reason = 'it ended';
  const taken = takenOver({
    ...options,
    sender: frameSender((message, transfer) => {
      if (!isOver) worker.postMessage(message, transfer);
    }, queueMicrotask),
  });
  const post = (message: ThreadCommand): void => void (isOver || worker.postMessage(message));

  function received(message: ThreadReport): void {
    switch (message.kind) {
      case 'listening':
        isListening = true;
        return listening.resolve();
      case 'failed':
        listening.reject(Object.assign(new Error(message.message), { code: message.code ?? undefined }));
        return end();
      case 'closed idle':
        return onClosedIdle(message.count);
      case 'left':
        return left.resolve();
      case 'notes':
        return onNotes(message.notes);
      case 'stopped':
        return end();
    }
  }

  function end(): void {
    if (isOver) return;
    isOver = true;
    worker.terminate();
    taken.abort();
    left.resolve();
    stopped.resolve();
  }

  function ended(): void {
    if (isOver) return;
    end();
    listening.reject(new Error(reason));
    if (isListening && !isStopping) onDeath(reason);
  }

  function check(): void {
    if (!isListening || isOver) return;
    const silent = silentChecks();
    if (silent === MOST_SILENT_CHECKS) {
      reason = `it hung for ${(silent * CHECK_MS) / SECOND} s`;
      worker.terminate();
    }
    if (silent === 2 * MOST_SILENT_CHECKS) onStuck();
  }

  worker.onmessage = ({ data }: MessageEvent<string | Chunk | ThreadReport>) => {
    if (typeof data === 'string') for (const frame of JSON.parse(data) as HandOverFrame[]) taken.received(frame);
    else if ('bytes' in data) taken.receivedChunk(data);
    else received(data);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    reason = event.message.split('\n').find((line) => line.startsWith('error:')) ?? event.message;
  };
  worker.addEventListener('close', ended);
  worker.postMessage({ kind: 'start', number, settings, certificate, isReady, heartbeat } satisfies ThreadCommand);

  return {
    listening: listening.promise,
    pending: taken.pending,
    post,
    check,
    async leave() {
      post({ kind: 'leave' });
      await left.promise;
    },
    async stop(isForced) {
      isStopping = true;
      post({ kind: 'stop', isForced });
      await stopped.promise;
    },
  };
}
