/** The names of backups, their retention, and the schedule. */
import { describe, expect, test } from 'bun:test';
import { backupName, madeAtOf, outlived, parseKeep } from '@/backup/names.ts';
import { parsePlace, placeIn, placeText } from '@/backup/place.ts';
import { nextRun, parseSchedule } from '@/backup/schedule.ts';
import { backupOperand } from '@/cli/backup-operand.ts';
import { loadConfig } from '@/config.ts';
import { DAY, HOUR } from '@/core/clock.ts';

const NOON = Date.parse('2026-03-02T12:00:00.000Z');
const MARK = 0xc0ffee;
const nameAt = (at: number, mark = MARK) => backupName(mark, at, false);

describe('retention', () => {
  const daily = Array.from({ length: 20 }, (_, day) => nameAt(NOON - day * DAY));

  test('keeps a number of the newest, the ones younger than some days, or both', () => {
    expect(outlived(daily, MARK, { count: 14, days: null }, NOON)).toEqual(daily.slice(14));
    expect(outlived(daily, MARK, { count: null, days: 3 }, NOON)).toEqual(daily.slice(3));
    expect(outlived(daily, MARK, { count: 7, days: 3 }, NOON)).toEqual(daily.slice(7));
  });

  test('never removes the newest one, however old it is', () => {
    expect(outlived([nameAt(NOON - 900 * DAY)], MARK, { count: null, days: 1 }, NOON)).toEqual([]);
  });

  test('ignores every other instance’s or unknown file', () => {
    const own = [nameAt(NOON), nameAt(NOON - DAY)];
    const others = [
      nameAt(NOON - 9 * DAY, 0xbeef),
      'gatehouse.db',
      'notes.txt',
      `${nameAt(NOON - 9 * DAY)}.bak`,
      `copy-${nameAt(NOON - 9 * DAY)}`,
    ];
    expect(outlived([...others, ...own], MARK, { count: 1, days: null }, NOON)).toEqual([own[1]!]);
  });

  test('reads the time of a backup from its name', () => {
    expect(madeAtOf(backupName(MARK, NOON, true), MARK)).toBe(NOON);
  });

  test.each(['', '0', 'x', '7,8', '3d,4d', '-1', '7 30d', '100000'])('cannot be parsed from the retention %p', (text) =>
    expect(parseKeep(text)).toBeNull(),
  );

  test('is parsed from a number, days, or both', () => {
    expect(parseKeep('14')).toEqual({ count: 14, days: null });
    expect(parseKeep('30d, 7')).toEqual({ count: 7, days: 30 });
  });
});

describe('the schedule', () => {
  const next = (text: string, after = NOON) => new Date(nextRun(parseSchedule(text)!, after)).toISOString();

  test('is an interval, a time of the day in UTC, or cron', () => {
    expect(next('every 6h')).toBe('2026-03-02T18:00:00.000Z');
    expect(next('daily 03:00')).toBe('2026-03-03T03:00:00.000Z');
    expect(next('daily 12:00')).toBe('2026-03-03T12:00:00.000Z');
    expect(next('30 2 * * 6')).toBe('2026-03-07T02:30:00.000Z');
    expect(nextRun(parseSchedule('every 2d')!, 0)).toBe(48 * HOUR);
  });

  test.each(['', 'daily', 'daily 24:00', 'every 1m', 'every 0h', 'hourly', '* * * *', '0 3 31 2 *', '61 * * * *'])(
    'cannot be parsed from the schedule %p',
    (text) => expect(parseSchedule(text)).toBeNull(),
  );
});

describe('a place', () => {
  test('is a path or a bucket with a prefix', () => {
    expect(parsePlace('/backups')).toEqual({ kind: 'disk', path: '/backups' });
    expect(parsePlace('s3://my-bucket/a/b/')).toEqual({ kind: 'bucket', bucket: 'my-bucket', key: 'a/b' });
    expect(placeText(placeIn(parsePlace('s3://my-bucket')!, 'x.db'))).toBe('s3://my-bucket/x.db');
    expect(placeText(placeIn(parsePlace('s3://my-bucket/a')!, 'x.db'))).toBe('s3://my-bucket/a/x.db');
  });

  test.each(['', 's3://', 's3:///a', 's3:bucket', 's3://b', 's3://bk/x', 's3://-bk/x', 's3://a_bucket/x'])(
    'cannot be parsed from the place %p',
    (text) => expect(parsePlace(text)).toBeNull(),
  );

  test.each(['s3://bk/x', `s3://${'b'.repeat(64)}/x`, 's3://a_bucket/x'])(
    'a malformed bucket name, %p, is refused with the rule, on the command line and in the setting',
    (text) => {
      const rule = 'the name of a bucket has 3 to 63 letters, digits, dots and hyphens';
      expect(() => backupOperand(text)).toThrow(`${text}: ${rule}`);
      expect(() => loadConfig({ GATEHOUSE_BACKUP_TO: text })).toThrow(rule);
    },
  );
});
