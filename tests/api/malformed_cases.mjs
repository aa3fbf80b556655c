// Requests that are no HTTP/1.1, or that two readers could read in two ways: [name, status, bytes]. Bytes are latin1.
export const CLAIM = '/api/v1/seats/reservation/fcfs';

const line = (text) => `${text}\r\nHost: a\r\n\r\n`;
const target = (text) => line(`GET ${text} HTTP/1.1`);
const host = (text) => `GET /healthz HTTP/1.1\r\nHost:${text}\r\n\r\n`;
const get = (...headers) => ['GET /healthz HTTP/1.1', 'Host: a', ...headers, '', ''].join('\r\n');
const post = (...headers) => [`POST ${CLAIM} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');
const chunks = (text) => post('Transfer-Encoding: chunked') + text;

export const CASES = [
  // Line ends and bytes
  ['bare LF behind the request line', 400, 'GET /healthz HTTP/1.1\nHost: a\r\n\r\n'],
  ['bare LF behind a header', 400, 'GET /healthz HTTP/1.1\r\nHost: a\nX: y\r\n\r\n'],
  ['bare LF as the empty line', 400, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\n'],
  ['only bare LFs', 400, 'GET /healthz HTTP/1.1\nHost: a\n\n'],
  ['bare CR in a value', 400, get('X: a\rTransfer-Encoding: chunked')],
  ['bare CR as a line end', 400, 'GET /healthz HTTP/1.1\rHost: a\r\n\r\n'],
  ['CR CR LF', 400, get('X: a\r')],
  ['two empty lines first', 400, `\r\n\r\n${get()}`],
  ['NUL in a value', 400, get('X: a\0b')],
  ['NUL in a name', 400, get('Content-Length\0: 5')],
  ['NUL in the target', 400, target('/healthz\0')],
  ['escape character in a value', 400, get('X: \x1b[2J')],
  ['DEL in a value', 400, get('X: \x7f')],
  ['vertical tab before the encoding', 400, post('Transfer-Encoding:\x0bchunked')],
  ['a TLS hello', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],

  // Header lines
  ['blank before the colon', 400, post('Content-Length : 5')],
  ['tab before the colon', 400, post('Transfer-Encoding\t: chunked')],
  ['folded header', 400, get('X: a', ' b')],
  ['folded length', 400, post('Content-Length:', ' 5')],
  ['blank before the first header', 400, 'GET /healthz HTTP/1.1\r\n Host: a\r\n\r\n'],
  ['line of blanks', 400, get('   ')],
  ['empty name', 400, get(': a')],
  ['no colon', 400, get('X')],
  ['parenthesis in a name', 400, get('X(y): a')],
  ['not ASCII in a name', 400, get('X\xe9: a')],

  // Lengths
  ['length and chunked', 400, post('Content-Length: 4', 'Transfer-Encoding: chunked') + '0\r\n\r\n'],
  ['chunked and length', 400, post('Transfer-Encoding: chunked', 'Content-Length: 4') + '0\r\n\r\n'],
  ['two lengths', 400, post('Content-Length: 0', 'Content-Length: 44')],
  ['two equal lengths', 400, post('Content-Length: 0', 'Content-Length: 0')],
  ['list of lengths', 400, post('Content-Length: 0, 0')],
  ['empty length', 400, post('Content-Length:')],
  ['length +5', 400, `${post('Content-Length: +5')}hello`],
  ['length -1', 400, post('Content-Length: -1')],
  ['length 0x5', 400, `${post('Content-Length: 0x5')}hello`],
  ['length 5 5', 400, `${post('Content-Length: 5 5')}hello`],
  ['length 2^64 + 5', 400, `${post('Content-Length: 18446744073709551621')}hello`],
  ['length of 40 digits', 400, post(`Content-Length: ${'9'.repeat(40)}`)],
  ['tab behind the length', 400, `${post('Content-Length: 5\t')}hello`],
  ['length beyond the limit', 413, post('Content-Length: 1000000')],

  // Encodings
  ['encoding gzip, chunked', 400, post('Transfer-Encoding: gzip, chunked') + '0\r\n\r\n'],
  ['encoding chunked, identity', 400, post('Transfer-Encoding: chunked, identity') + '0\r\n\r\n'],
  ['encoding identity', 400, post('Transfer-Encoding: identity', 'Content-Length: 0')],
  ['encoding xchunked', 400, post('Transfer-Encoding: xchunked')],
  ['encoding "chunked"', 400, post('Transfer-Encoding: "chunked"')],
  ['tab behind the encoding', 400, post('Transfer-Encoding: chunked\t') + '0\r\n\r\n'],
  ['empty encoding', 400, post('Transfer-Encoding:')],
  ['chunked twice', 400, post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + '0\r\n\r\n'],
  ['chunked and another encoding', 400, post('Transfer-Encoding: chunked', 'Transfer-Encoding: x') + '0\r\n\r\n'],
  ['chunked in HTTP/1.0', 400, `POST ${CLAIM} HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],

  // Chunks
  ['size with a sign', 400, chunks('+2\r\n{}\r\n0\r\n\r\n')],
  ['size 0x2', 400, chunks('0x2\r\n{}\r\n0\r\n\r\n')],
  ['no size', 400, chunks('\r\n\r\n')],
  ['size with a blank', 400, chunks('2 \r\n{}\r\n0\r\n\r\n')],
  ['size of 17 digits', 400, chunks('10000000000000002\r\n{}\r\n0\r\n\r\n')],
  ['size beyond the limit', 413, chunks('ffffffffffffffff\r\n{}\r\n0\r\n\r\n')],
  ['bare LF behind the size', 400, chunks('2\n{}\r\n0\r\n\r\n')],
  ['bare LF behind the data', 400, chunks('2\r\n{}\n0\r\n\r\n')],
  ['more data than told', 400, chunks('2\r\n{}}\r\n0\r\n\r\n')],
  ['less data than told', 400, chunks('3\r\n{}\r\n0\r\n\r\n')],
  ['bare LF in an extension', 400, chunks('2;a\nb\r\n{}\r\n0\r\n\r\n')],
  ['extension without end', 431, chunks(`2;${'x'.repeat(5000)}`)],
  ['a request line as a trailer', 400, chunks('0\r\nGET /healthz HTTP/1.1\r\n\r\n')],
  ['folded trailer', 400, chunks('0\r\nX: a\r\n b\r\n\r\n')],
  ['bare LF ends the trailers', 400, chunks('0\r\nX: a\r\n\n')],
  ['trailers without end', 431, chunks(`0\r\nX: ${'x'.repeat(5000)}`)],

  // Hosts
  ['no Host', 400, 'GET /healthz HTTP/1.1\r\nX: y\r\n\r\n'],
  ['two Hosts', 400, get('Host: b')],
  ['empty Host', 400, host('')],
  ['Host list', 400, host(' a, b')],
  ['Host with a path', 400, host(' a/healthz')],
  ['Host with a user', 400, host(' a@b')],
  ['Host with a word for a port', 400, host(' a:http')],
  ['Host with an open bracket', 400, host(' [::1')],

  // Request lines
  ['whole URL with another scheme', 400, target('ftp://a/healthz')],
  ['whole URL with a user', 400, target('http://me@a/healthz')],
  ['whole URL without a host', 400, target('http:///healthz')],
  ['authority target', 400, target('a:80')],
  ['asterisk with GET', 400, target('*')],
  ['relative target', 400, target('healthz')],
  ['fragment', 400, target('/healthz#x')],
  ['blank in the target', 400, target('/health z')],
  ['not ASCII in the target', 400, target('/healthz\xc3\xa9')],
  ['backslash in the target', 400, target('/\\healthz')],
  ['escape without digits', 400, target('/healthz%')],
  ['bad escape in the query', 400, target('/healthz?a=%zz')],
  ['no version', 400, line('GET /healthz')],
  ['only a method', 400, line('GET')],
  ['two blanks', 400, line('GET  /healthz HTTP/1.1')],
  ['blank behind the version', 400, line('GET /healthz HTTP/1.1 ')],
  ['blank before the method', 400, line(' GET /healthz HTTP/1.1')],
  ['tabs for blanks', 400, line('GET\t/healthz\tHTTP/1.1')],
  ['lower-case version', 400, line('GET /healthz http/1.1')],
  ['HTTP/1.10', 400, line('GET /healthz HTTP/1.10')],
  ['HTTP/1.2', 505, line('GET /healthz HTTP/1.2')],
  ['HTTP/2 begins', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['lower-case method', 501, line('get /healthz HTTP/1.1')],
  ['CONNECT', 501, line('CONNECT a:443 HTTP/1.1')],
  ['colon in the method', 400, line('GET: /healthz HTTP/1.1')],

  // Too much, or not understood
  ['unknown expectation', 417, post('Expect: 200-ok', 'Content-Length: 0')],
  ['100 headers', 431, get(...Array.from({ length: 100 }, (_, i) => `X-${i}: y`))],
  ['large header', 431, get(`X: ${'y'.repeat(20000)}`)],
  ['header without end', 431, `GET /healthz HTTP/1.1\r\nX: ${'y'.repeat(20000)}`],
  ['long target', 414, target(`/${'x'.repeat(9000)}`)],
  ['method without end', 414, 'X'.repeat(9000)],
];
