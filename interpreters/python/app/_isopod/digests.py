"""Functions that `hashlib` has only with OpenSSL, and that scripts use."""

import hashlib
import hmac


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """Returns the same result as the function in C, at a tenth of its speed."""
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    inner = hmac.new(password, digestmod=hash_name)
    size = dklen or inner.digest_size
    if size < 1:
        raise ValueError("key length must be greater than 0.")
    key, block = b"", 0
    while len(key) < size:
        block += 1
        mac = inner.copy()
        mac.update(salt + block.to_bytes(4))
        last = mac.digest()
        total = int.from_bytes(last)
        for _ in range(iterations - 1):
            mac = inner.copy()
            mac.update(last)
            last = mac.digest()
            total ^= int.from_bytes(last)
        key += total.to_bytes(inner.digest_size)
    return key[:size]


def install():
    if not hasattr(hashlib, "pbkdf2_hmac"):
        hashlib.pbkdf2_hmac = pbkdf2_hmac
