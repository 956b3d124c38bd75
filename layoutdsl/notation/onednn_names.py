"""The names of oneDNN's tags: those whose letters say what the axes mean.

Each row: what follows the letters, if anything, and the letters that it may follow. The library
knows no other names, and takes no other letters than a to l in tags of one's own.

Source: oneDNN 2023.2, `dnnl_types.h`, the enumeration `dnnl_format_tag_t`, without the six names
that do not say what they stand for.
"""

from __future__ import annotations

from functools import cache

_TABLE = """
| chwn cn dhwigo dhwio dhwoi gdhwio ghwio giodhw giohw godhwi gohwi goidhw goihw goiw gowi gwio
    hwigo hwio hwoi idhwo ihwo io iodhw iohw iwo ldgo ldgoi ldigo ldio ldnc ldoi nc ncdhw nchw
    ncw ndhwc nhwc nt ntc nwc odhwi ohwi oi oidhw oihw oiw owi tn tnc wigo wio woi x
32g | Goidhw Goihw Goiw
16g | Goidhw Goihw Goiw hwioG
4g | Goihw Goiw
8g | Goihw Goiw hwioG
16i16o | IOdhw IOhw IOw OI OIdhw OIhw OIw gIOdhw gIOhw gIOw gOIdhw gOIhw gOIw
2i8o16i4o | IOdhw IOhw IOw OIdhw OIhw OIw
16o16i 8o16i2o | IOdhw IOhw IOw OIdhw OIhw OIw gIOdhw gIOhw gIOw gOIdhw gOIhw gOIw
4i8o8i2o 4i8o8i4o | IOdhw IOhw IOw gIOdhw gIOhw gIOw
2i8o16i2o | IOdhw IOhw IOw gIOw
16o16i2o | IdhwO IhwO IwO OIdhw OIhw OIw gIdhwO gIhwO gIwO gOIdhw gOIhw gOIw
16i2o 16i4o 16o16i4o 16o32i2o 16o32i4o 16o48i2o 16o48i4o 16o64i2o 16o64i4o 24i2o 24i4o 32i4o
    48i2o 48i4o 64i2o 64i4o 8i2o 8i4o | IdhwO IhwO IwO gIdhwO gIhwO gIwO
32i2o | IdhwO IhwO IwO gIdhwO gIhwO gIwO ldgIO
24i 48i 64i 8i | Idhwo Ihwo Iwo gIdhwo gIhwo gIwo
32i | Idhwo Ihwo Iwo gIdhwo gIhwo gIwo goIdhw goIhw goIw ldIo ldgIo
16i | Idhwo Ihwo Iwo gIdhwo gIhwo gIwo ldgIo
16n16c 2c32n8c 32n16c 32n32c 40n16c 40n32c | NCdhw NChw NCw
16n32c | NChw
16i32o 16i48o 16i64o 4i24o4i 4i32o4i 4i64o4i 4i8o4i 8i16o 8i24o 8i24o2i 8i32o 8i32o2i 8i64o2i
    8i8o2i | OI OIdhw OIhw OIw
16i16o2i 16i16o4i | OI OIdhw OIhw OIw OdhwI OhwI OwI gOIdhw gOIhw gOIw gOdhwI gOhwI gOwI
16i32o2i 16i32o4i 16i48o2i 16i48o4i 16i64o2i 16i64o4i | OI OIdhw OIhw OIw OdhwI OhwI OwI gOdhwI
    gOhwI gOwI
4i16o4i 8i16o2i 8i8o | OI OIdhw OIhw OIw gOIdhw gOIhw gOIw
8o4i | OIdhw OIhw OIw OdhwI OhwI OwI gOIdhw gOIhw gOIw gOdhwI gOhwI gOwI
2i8o4i 2o8i16o2i 4i4o 4o4i 4o8i8o2i 4o8i8o4i 8o8i | OIdhw OIhw OIw gOIdhw gOIhw gOIw
2o8i16o4i | OIdhw OIhw OIw gOIhw gOIw
2o8i8o2i | OIhw gOIhw
16o2i 16o4i 24o2i 24o4i 48o2i 48o4i 8o2i | OdhwI OhwI OwI gOdhwI gOhwI gOwI
32o4i | OdhwI OhwI OwI gOdhwI gOhwI gOwI ldOI ldgOI
32o2i 64o2i 64o4i | OdhwI OhwI OwI gOdhwI gOhwI gOwI ldgOI
16o | Odhwi Odwhi Ohwi Oidhw Oihw Oiw Owhi Owi gOdhwi gOdwhi gOhwi gOidhw gOihw gOiw gOwhi gOwi
    ldOi ldgOi
4o | Odhwi Ohwi Oidhw Oihw Oiw Owi gOdhwi gOhwi gOidhw gOihw gOiw gOwi
24o 48o 64o 8o | Odhwi Ohwi Owi gOdhwi gOhwi gOwi
32o | Odhwi Ohwi Owi gOdhwi gOhwi gOwi ldOi ldgOi
4i | dhwIo gdhwIo ghwIo goIdhw goIhw goIw gwIo hwIo wIo
2i | dhwIo gdhwIo ghwIo gwIo hwIo wIo
2i4o2i 2o4i2o 4i8o2i 4o8i2o | gOIdhw gOIhw gOIw
16c 32c 4c 8c | nCdhw nChw nCw
"""


@cache
def names() -> frozenset[str]:
    """Return every name: ``nchw``, ``nChw16c``, ``OIhw4i16o4i`` and on."""
    found: set[str] = set()
    for row in _TABLE.replace("\n    ", " ").strip().splitlines():
        blocks, _, heads = row.partition("|")
        found.update(f"{head}{tail}" for head in heads.split() for tail in blocks.split() or [""])
    return frozenset(found)
