import { describe, expect, test } from 'bun:test';
import { loadConfig } from '@/config.ts';
import { threadCount } from '@/threads/count.ts';

const count = (environment: Record<string, string>, cores: number, platform = 'linux') =>
  threadCount(loadConfig(environment), cores, platform);

describe('without a setting', () => {
  test.each([
    [1, 0],
    [2, 0],
    [3, 2],
    [4, 3],
    [5, 4],
    [64, 4],
  ])('%i cores have %i threads', (cores, threads) => {
    expect(count({}, cores)).toEqual({ count: threads, isUnsupported: false });
  });

  test('an ephemeral instance and one on PostgreSQL have none', () => {
    expect(threadCount(loadConfig({}, { mode: 'ephemeral' }), 8, 'linux').count).toBe(0);
    const postgres = {
      GATEHOUSE_DATABASE_URL: 'postgres://a:b@c/d',
      GATEHOUSE_INSTANCE_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    expect(count(postgres, 8).count).toBe(0);
  });
});

test('the setting decides, on few cores too', () => {
  expect(count({ GATEHOUSE_THREADS: '2' }, 1).count).toBe(2);
  expect(count({ GATEHOUSE_THREADS: '0' }, 8).count).toBe(0);
});

test('where listeners cannot share a port there are none, which is said only where there would be some', () => {
  for (const platform of ['darwin', 'win32']) {
    expect(count({}, 8, platform)).toEqual({ count: 0, isUnsupported: true });
    expect(count({}, 2, platform)).toEqual({ count: 0, isUnsupported: false });
    expect(count({ GATEHOUSE_THREADS: '0' }, 8, platform)).toEqual({ count: 0, isUnsupported: false });
  }
});
