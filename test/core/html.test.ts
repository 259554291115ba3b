import { describe, expect, test } from 'bun:test';
import { html, jsonBlock, renderDocument } from '@/core/html.ts';

const HOSTILE = `"><script>alert('x')</script>&amp;`;

describe('html', () => {
  test('a value is escaped in text and in quoted attributes', () => {
    expect(String(html`<p title="${HOSTILE}">${HOSTILE}</p>`)).not.toMatch(/<script|='|">[^&]*"/);
    expect(String(html`${`<>&"'`}`)).toBe('&lt;&gt;&amp;&quot;&#39;');
  });

  test('nested templates and lists of them are kept, their values escaped once', () => {
    const items = ['a&b', '<c>'].map((item) => html`<li>${item}</li>`);
    expect(String(html`<b>${items}</b>`)).toBe('<b><li>a&amp;b</li><li>&lt;c&gt;</li></b>');
    expect(String(html`${['<', ['>']]}`)).toBe('&lt;&gt;');
  });

  test('null, undefined and false are left out; zero is not', () => {
    expect(String(html`[${null}${undefined}${false}${0}${''}]`)).toBe('[0]');
  });

  test('an object that merely looks like markup is escaped', () => {
    const forged = { toString: () => '<b>' } as unknown as string;
    expect(String(html`${forged}`)).toBe('&lt;b&gt;');
  });
});

describe('jsonBlock', () => {
  test('no value can end the block, and the data reads back unchanged', () => {
    const data = { text: `</script><!--<script>${HOSTILE}` };
    const block = String(jsonBlock('d', data));
    const json = block.slice(block.indexOf('>') + 1, block.lastIndexOf('</script>'));
    expect(json).not.toContain('<');
    expect(JSON.parse(json)).toEqual(data);
  });
});

test('a document starts with its doctype', () => {
  expect(renderDocument(html`<html></html>`)).toBe('<!doctype html>\n<html></html>\n');
});
