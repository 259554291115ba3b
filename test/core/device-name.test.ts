import { describe, expect, test } from 'bun:test';
import { deviceNameOf, deviceTypeOf } from '@/core/device-name.ts';

describe('the name of a device from its user agent', () => {
  const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)';
  test.each([
    ['acme-cli/2.1.0 (linux; x64)', 'acme-cli'],
    ['curl/8.9.1', 'curl'],
    ['node', 'node'],
    ['openid-client/v6.8.9 (https://github.com/panva/openid-client)', 'openid-client'],
    [`${MAC} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on macOS'],
    [`${MAC} Chrome/140.0.0.0 Safari/537.36 Edg/140.0`, 'Microsoft Edge on macOS'],
    [`${MAC} Version/18.0 Safari/605.1.15`, 'Safari on macOS'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/140 Mobile Safari/604.1', 'Chrome on iOS'],
    ['Mozilla/5.0 (Linux; Android 15) Chrome/140 Mobile Safari/537.36', 'Chrome on Android'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64)', 'Windows'],
    ['Mozilla/5.0', null],
    ['<script>alert(1)</script>', null],
    ['x'.repeat(300), null],
    ['', null],
    [null, null],
  ])('%j becomes %s', (userAgent, name) => {
    expect(deviceNameOf(userAgent)).toBe(name);
  });
});

describe('the type of a device from its user agent', () => {
  test.each([
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/140 Mobile Safari/604.1', 'phone'],
    ['Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36', 'phone'],
    [
      'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 Version/16.6 Mobile/15E148 Safari/604.1',
      'tablet',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'computer'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64)', 'computer'],
    ['curl/8.9.1', 'program'],
    ['Mozilla/5.0', null],
    ['<script>alert(1)</script>', null],
    ['', null],
    [null, null],
  ])('%j becomes %s', (userAgent, type) => {
    expect(deviceTypeOf(userAgent)).toBe(type as never);
  });
});
