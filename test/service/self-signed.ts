/** A key and a certificate for localhost that no one has signed, made for these tests alone: it guards nothing. */
export const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNIA32vcd9Qrv+vv5
4tLP27LNiv5PTGILi5PTbErZI+ihRANCAASdQ60coxpHsI5jsip0QToDgDftMgF3
+/sxKQdwexTm2P7og8lli0ANKzoQDUmy3HimjQJManrflkmd6fgrQ2Pn
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUBUsRk+iuNLKcWAXteio4tGNbSF4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTExMTQ0M1oYDzIxMjYxMDI4
MTExNDQzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASdQ60coxpHsI5jsip0QToDgDftMgF3+/sxKQdwexTm2P7og8lli0AN
KzoQDUmy3HimjQJManrflkmd6fgrQ2Pno28wbTAdBgNVHQ4EFgQUx6/nNTEwmcRh
PeQVb+GnGttf3g0wHwYDVR0jBBgwFoAUx6/nNTEwmcRhPeQVb+GnGttf3g0wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhALdxmbB958E6GHY/2ZTtLeZjdYmtJikT7ySFrDb/Bjv/AiA1
ihrW37aT9L2E6TXgRatR82CNV7C2lIIOzXmtcPxZpw==
-----END CERTIFICATE-----`,
} as const;
