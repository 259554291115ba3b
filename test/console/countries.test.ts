/** The countries in the console's filter. */
import { expect, test } from 'bun:test';
import { countries } from '../../src/console/views/activity/countries.ts';

test('each country is listed once, without withdrawn codes', () => {
  const labels = countries().map(({ label }) => label);
  expect(labels.filter((label, at) => labels.indexOf(label) !== at)).toEqual([]);
  expect(countries().filter(({ label }) => label === 'Benin')).toEqual([{ value: 'BJ', label: 'Benin' }]);
});
