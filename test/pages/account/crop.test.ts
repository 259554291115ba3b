/** The part of a picture that a crop keeps. */
import { describe, expect, test } from 'bun:test';
import { MAX_ZOOM, partOf, wholeCrop, within } from '@/pages/account/crop.ts';

const LYING = { width: 900, height: 300 };
const STANDING = { width: 300, height: 900 };

describe('a crop', () => {
  test('starts with the largest centred area of its shape', () => {
    expect(partOf(LYING, 1, wholeCrop(LYING))).toEqual({ left: 300, top: 0, width: 300, height: 300 });
    expect(partOf(LYING, 3, wholeCrop(LYING))).toEqual({ left: 0, top: 0, width: 900, height: 300 });
    expect(partOf(STANDING, 3, wholeCrop(STANDING))).toEqual({ left: 0, top: 400, width: 300, height: 100 });
  });

  test('never leaves the picture, wherever it is moved', () => {
    expect(partOf(LYING, 1, within(LYING, 1, { x: -500, y: 5_000, zoom: 2 }))).toEqual({
      left: 0,
      top: 150,
      width: 150,
      height: 150,
    });
  });

  test('is zoomed within limits, and moves back inside when it is zoomed out', () => {
    expect(within(LYING, 1, { x: 0, y: 0, zoom: 100 }).zoom).toBe(MAX_ZOOM);
    const corner = within(LYING, 1, { x: 0, y: 0, zoom: 4 });
    expect(within(LYING, 1, { ...corner, zoom: 0.1 })).toEqual({ x: 150, y: 150, zoom: 1 });
  });
});
