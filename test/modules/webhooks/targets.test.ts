/** Allowed addresses of an endpoint. */
import { describe, expect, test } from 'bun:test';
import { input, setUp, setUpNormal, URL_OF_SHOP } from './scene.ts';

describe('a target', () => {
  test.each([
    ['http', 'http://shop.example.com/'],
    ['http to a public address', 'http://1.1.1.1/'],
    ['another scheme', 'ftp://shop.example.com/'],
    ['a script', 'javascript:alert(1)'],
    ['no scheme', '//shop.example.com/'],
    ['no address', 'shop'],
    ['nothing', ''],
    ['no host', 'https://'],
    ['white space', 'https://shop.example.com/ hook'],
    ['white space before', ' https://shop.example.com/'],
    ['backslashes', 'https:\\\\shop.example.com\\'],
    ['a user name', 'https://ada@shop.example.com/'],
    ['a user name and password', 'https://ada:secret@shop.example.com/'],
    ['loopback', 'https://127.0.0.1/'],
    ['another loopback', 'https://127.8.9.10:8443/'],
    ['loopback by name', 'https://localhost/'],
    ['loopback by name in capitals', 'https://LOCALHOST:8443/'],
    ['loopback by its absolute name', 'https://localhost./'],
    ['loopback by a name below localhost', 'https://shop.localhost/'],
    ['loopback in hexadecimal', 'https://0x7f.1/'],
    ['loopback in octal', 'https://0177.0.0.01/'],
    ['loopback as one number', 'https://2130706433/'],
    ['loopback as one hexadecimal number', 'https://0x7f000001/'],
    ['loopback shortened', 'https://127.1/'],
    ['loopback with a final dot', 'https://127.0.0.1./'],
    ['loopback in full-width digits', 'https://１２７.０.０.１/'],
    ['loopback with ideographic stops', 'https://127。0。0。1/'],
    ['loopback percent-encoded', 'https://%31%32%37.0.0.1/'],
    ['this host', 'https://0.0.0.0/'],
    ['zero', 'https://0/'],
    ['private class A', 'https://10.1.2.3/'],
    ['private class B', 'https://172.31.255.255/'],
    ['private class C', 'https://192.168.1.1/'],
    ['shared by carriers', 'https://100.64.0.1/'],
    ['link-local, with the metadata of clouds', 'https://169.254.169.254/latest/meta-data'],
    ['for benchmarks', 'https://198.18.0.1/'],
    ['multicast', 'https://224.0.0.1/'],
    ['broadcast', 'https://255.255.255.255/'],
    ['loopback of IPv6', 'https://[::1]/'],
    ['loopback of IPv6 in full', 'https://[0:0:0:0:0:0:0:1]/'],
    ['unspecified of IPv6', 'https://[::]/'],
    ['loopback mapped into IPv6', 'https://[::ffff:127.0.0.1]/'],
    ['loopback mapped into IPv6 in hexadecimal', 'https://[::FFFF:7F00:1]/'],
    ['metadata mapped into IPv6', 'https://[0:0:0:0:0:ffff:a9fe:a9fe]/'],
    ['loopback as IPv4-compatible', 'https://[::127.0.0.1]/'],
    ['loopback through NAT64', 'https://[64:ff9b::7f00:1]/'],
    ['loopback through 6to4', 'https://[2002:7f00:1::1]/'],
    ['loopback through Teredo', 'https://[2001:0:7f00:1::1]/'],
    ['link-local of IPv6', 'https://[fe80::1]/'],
    ['unique local of IPv6', 'https://[fd00::1]/'],
    ['multicast of IPv6', 'https://[ff02::1]/'],
    ['documentation of IPv6', 'https://[2001:db8::1]/'],
    // The issue asks for port checks; these are among the ports that WHATWG Fetch §2.9 blocks.
    ['the port of SSH', 'https://shop.example.com:22/'],
    ['the port of SMTP', 'https://shop.example.com:25/'],
    ['the port of IRC', 'https://shop.example.com:6667/'],
    ['port zero', 'https://shop.example.com:0/'],
  ])('is not %s: %s', async (_, url) => {
    const { api } = await setUpNormal();
    const refused = await api.create(input({ url }));
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_request']);
    expect(refused.json.fields.map(({ path }: { path: string }) => path)).toEqual(['url']);
    const { id } = (await api.create(input())).json.data;
    expect((await api.patch(id, { url })).status).toBe(400);
    expect((await api.get(id)).json.data.url).toBe(URL_OF_SHOP);
  });

  test.each([
    ['another port', 'https://shop.example.com:8443/hooks?tenant=1'],
    ['a public address', 'https://1.1.1.1/'],
    ['a public address of IPv6', 'https://[2606:4700:4700::1111]/'],
    ['a name in another script', 'https://bücher.example/'],
    ['as long as may be', `https://shop.example.com/${'x'.repeat(2000 - 25)}`],
  ])('may be %s', async (_, url) => {
    const { api } = await setUpNormal();
    const created = await api.create(input({ url }));
    expect([created.status, created.json.data?.url]).toEqual([200, url]);
  });

  test('is at most 2000 characters long', async () => {
    const { api } = await setUpNormal();
    const refused = await api.create(input({ url: `https://shop.example.com/${'x'.repeat(2001 - 25)}` }));
    expect([refused.status, refused.json.fields[0].path]).toEqual([400, 'url']);
  });

  test('may be http and private if the operator has opened a range', async () => {
    const { api } = await setUpNormal({ GATEHOUSE_ALLOW_CIDRS: '10.20.0.0/16' });
    expect((await api.create(input({ url: 'http://10.20.3.4:3000/' }))).status).toBe(200);
    for (const url of ['http://10.21.0.1/', 'https://10.21.0.1/', 'http://shop.example.com/', 'https://127.0.0.1/'])
      expect((await api.create(input({ url }))).status).toBe(400);
  });

  test('may be http on loopback only in an ephemeral instance', async () => {
    const { api } = await setUp();
    for (const url of ['http://127.0.0.1:3000/', 'http://localhost:3000/', 'http://[::1]:3000/'])
      expect((await api.create(input({ url }))).status).toBe(200);
    for (const url of ['http://10.0.0.1/', 'https://10.0.0.1/', 'http://shop.example.com/', 'http://0.0.0.0/'])
      expect((await api.create(input({ url }))).status).toBe(400);
  });
});
