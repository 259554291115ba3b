/** Event streams are limited per person and per client address; a slot is free again when its stream ends. */
import { describe, expect, test } from 'bun:test';
import { streamSlots, withEnd } from '@/http/stream-slots.ts';

const LIMITS = { streamsPerPerson: 2, streamsPerAddress: 3 };

describe('stream slots', () => {
  test('are limited per person over all addresses', () => {
    const { take } = streamSlots(LIMITS);
    const leave = take({ userId: 'usr_1', ip: '192.0.2.1' });
    take({ userId: 'usr_1', ip: '192.0.2.2' });
    expect(() => take({ userId: 'usr_1', ip: '192.0.2.3' })).toThrow(
      expect.objectContaining({ code: 'rate_limited', limit: 2 }),
    );
    leave();
    leave();
    take({ userId: 'usr_1', ip: '192.0.2.3' });
    expect(() => take({ userId: 'usr_1', ip: '192.0.2.3' })).toThrow('Too many open streams');
  });

  test('are limited per address over all people; a refusal there takes none of the person’s slots', () => {
    const { take } = streamSlots(LIMITS);
    for (const userId of ['usr_1', 'usr_2', null]) take({ userId, ip: '192.0.2.1' });
    for (let ask = 0; ask < 5; ask += 1)
      expect(() => take({ userId: 'usr_1', ip: '192.0.2.1' })).toThrow(expect.objectContaining({ limit: 3 }));
    take({ userId: 'usr_1', ip: '192.0.2.2' });
  });

  test('are not counted by address where that limit is off', () => {
    const { take } = streamSlots({ ...LIMITS, streamsPerAddress: null });
    for (let ask = 0; ask < 10; ask += 1) take({ userId: `usr_${ask}`, ip: '192.0.2.1' });
  });
});

describe('a stream tells its end', () => {
  const bytes = new TextEncoder().encode('data');
  const sourceOf = (begin: (controller: ReadableStreamDefaultController<Uint8Array>) => void) =>
    new ReadableStream<Uint8Array>({ start: begin });

  test('when its source closes, after all has been read', async () => {
    let ends = 0;
    const source = sourceOf((controller) => {
      controller.enqueue(bytes);
      controller.close();
    });
    expect(await new Response(withEnd(source, () => (ends += 1))).text()).toBe('data');
    expect(ends).toBe(1);
  });

  test('when its reader leaves, and its source hears of it', async () => {
    let [ends, isCancelled] = [0, false];
    const source = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
    await withEnd(source, () => (ends += 1)).cancel();
    expect([ends, isCancelled]).toEqual([1, true]);
  });

  test('when its source fails', async () => {
    let ends = 0;
    const told = withEnd(
      sourceOf((controller) => controller.error(new Error('broken'))),
      () => (ends += 1),
    );
    expect(new Response(told).text()).rejects.toThrow('broken');
    await Promise.resolve();
    expect(ends).toBe(1);
  });
});
