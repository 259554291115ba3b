/** A body that arrives from another thread, chunk by chunk, each when the reader asks for it. */

export interface BodySource {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  chunk(bytes: Uint8Array<ArrayBuffer>): void;
  end(): void;
  fail(error: Error): void;
}

/** @param onCancel called when the reader wants no more. */
export function bodySource(askForMore: () => void, onCancel: () => void): BodySource {
  let waiting: PromiseWithResolvers<void> | null = null;
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | null = null;
  let isOver = false;

  function answered(then: () => void): void {
    if (isOver) return;
    then();
    waiting?.resolve();
    waiting = null;
  }

  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(given) {
        controller = given;
      },
      pull() {
        waiting = Promise.withResolvers<void>();
        askForMore();
        return waiting.promise;
      },
      cancel() {
        isOver = true;
        waiting?.resolve();
        onCancel();
      },
    },
    { highWaterMark: 0 },
  );

  return {
    stream,
    chunk: (bytes) => answered(() => controller?.enqueue(bytes)),
    end: () =>
      answered(() => {
        isOver = true;
        controller?.close();
      }),
    fail: (error) =>
      answered(() => {
        isOver = true;
        controller?.error(error);
      }),
  };
}
