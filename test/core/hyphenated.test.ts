import { expect, test } from 'bun:test';
import { hyphenated } from '@/core/hyphenated.ts';

const shown = (text: string) => hyphenated(text).replaceAll('\u00ad', '-');

test.each([
  ['Donaudampfschifffahrtsgesellschaft', 'Do-nau-dampf-schiff-fahrts-ge-sell-schaft'],
  ['Ein kurzer Name', 'Ein kurzer Name'],
])('very long words have places for hyphens: %s', (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test.each(['https://donaudampfschifffahrtsgesellschaft.example/x', 'kapitaensmuetzenverwaltung@donau.example'])(
  'an address stays as it is, so that it can be copied: %s',
  (address) => {
    expect(hyphenated(`Write to ${address} now`)).toBe(`Write to ${address} now`);
  },
);
