/** Success and latency of an endpoint over time. */
import { describe, expect, test } from 'bun:test';
import { HOUR } from '@/core/clock.ts';
import { latencyMetric, latencyPercentile } from '@/modules/webhooks/latency.ts';
import { emit, setUp, subscribe } from './scene.ts';

const counted = (durations: readonly number[]) => {
  const counts = new Map<string, number>();
  for (const duration of durations) {
    const metric = latencyMetric(duration);
    counts.set(metric, (counts.get(metric) ?? 0) + 1);
  }
  return counts;
};

describe('percentiles', () => {
  test('are within the range of the attempt that they name', () => {
    const counts = counted([...Array.from({ length: 95 }, () => 120), ...Array.from({ length: 5 }, () => 1200)]);
    expect(latencyPercentile(counts, 0.5)).toBeWithin(100, 151);
    expect(latencyPercentile(counts, 0.95)).toBeWithin(100, 151);
    expect(latencyPercentile(counts, 0.99)).toBeWithin(1000, 1501);
  });

  test('are null without attempts, and at most the longest range', () => {
    expect(latencyPercentile(new Map(), 0.5)).toBeNull();
    expect(latencyPercentile(counted([99_999]), 1)).toBe(15_000);
  });
});

test('attempts are counted by the hour, with their latency', async () => {
  const scene = await setUp();
  const { instance, api } = scene;
  const { id, receiver } = await subscribe(scene);
  const run = () => instance.services.deliveries.runOnce();
  await emit(scene);
  await run();
  instance.clock.advance(HOUR);
  receiver.answerWith(() => ({ status: 500 }));
  await emit(scene);
  await run();
  await instance.services.flushCounters();
  const { unit, total, points } = (await api.performance(id, '?days=1')).json.data;
  expect([unit, points.length]).toEqual(['hour', 24]);
  expect(points.slice(-2)).toMatchObject([
    { delivered: 1, failed: 0 },
    { delivered: 0, failed: 1 },
  ]);
  expect(points[0]).toMatchObject({ delivered: 0, failed: 0, p50Ms: null, p95Ms: null });
  expect(total).toMatchObject({ delivered: 1, failed: 1 });
  for (const ms of [total.p50Ms, points.at(-1).p95Ms]) expect(ms).toBeGreaterThan(0);
});
