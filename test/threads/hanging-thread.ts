/** A thread that verifies, and hangs when it is told to. */
import '@/threads/verification-thread.ts';

declare const self: Worker;

export type HangCommand = { readonly kind: 'loop' } | { readonly kind: 'sleep'; readonly ms: number };

self.addEventListener('message', ({ data }: MessageEvent<HangCommand>) => {
  if (data.kind !== 'loop' && data.kind !== 'sleep') return;
  // The last message: nothing is answered after it.
  self.postMessage({ kind: 'hangs' });
  if (data.kind === 'loop') for (;;);
  Bun.sleepSync(data.ms);
});
