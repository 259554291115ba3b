/** The countries that the console filters by. */
import { expect, test } from 'bun:test';
import { COUNTRIES } from '../../src/console/views/activity/countries.ts';

test('stand there once each, without codes that were withdrawn', () => {
  const labels = COUNTRIES.map(({ label }) => label);
  expect(labels.filter((label, at) => labels.indexOf(label) !== at)).toEqual([]);
  expect(COUNTRIES.filter(({ label }) => label === 'Benin')).toEqual([{ value: 'BJ', label: 'Benin' }]);
});
