CREATE TABLE trader (
  trader_id INTEGER PRIMARY KEY,
  trader_name TEXT NOT NULL,
  goods TEXT,
  village TEXT,
  trading_since INTEGER -- year trading began
);
CREATE TABLE pitch (
  pitch_no INTEGER PRIMARY KEY, -- pitch number
  street TEXT,
  width_m REAL, -- width in metres
  has_power TEXT, -- electricity
  daily_rent REAL
);
CREATE TABLE booking (
  booking_id INTEGER PRIMARY KEY,
  trader_id INTEGER REFERENCES trader(trader_id),
  pitch_no INTEGER REFERENCES pitch(pitch_no), -- pitch number
  market_day DATE,
  takings REAL
);
CREATE TABLE inspection (
  inspection_id INTEGER PRIMARY KEY,
  trader_id INTEGER REFERENCES trader(trader_id),
  inspector TEXT,
  inspected_on DATE, -- date of inspection
  hygiene_score INTEGER
);
INSERT INTO trader VALUES
 (1, 'Pickle & Rye', 'preserves', 'Amberley', 2014),
 (2, 'Nan''s Pies', 'hot food', 'Coldwell', 1999),
 (3, 'The Cheese Cart', 'cheese', 'Amberley', 2008),
 (4, 'Woolly Thinking', 'knitwear', 'Thistledown', 2019),
 (5, 'Green Fingers', 'plants', 'Coldwell', 2003),
 (6, 'Dosa Darlings', 'hot food', 'Marsh End', 2021),
 (7, 'Old Spokes', 'second-hand bikes', 'Thistledown', 2016),
 (8, 'Button Box', 'haberdashery', 'Marsh End', 1987),
 (9, 'Honest Honey', 'preserves', 'Thistledown', 2011),
 (10, 'Blue Whiting', 'fish', 'Port Stacey', 1994),
 (11, 'Crumb', 'bread', 'Amberley', 2022);
INSERT INTO pitch VALUES
 (1, 'High Street', 3.0, 'yes', 32.0),
 (2, 'High Street', 2.5, 'no', 24.0),
 (3, 'High Street', 4.0, 'yes', 41.5),
 (4, 'Butcher Row', 3.5, 'yes', 29.0),
 (5, 'Butcher Row', 2.0, 'no', 16.5),
 (6, 'Well Lane', 2.0, 'no', 12.0),
 (7, 'Well Lane', 5.0, 'yes', 35.0),
 (8, 'Church Green', 6.0, 'no', 27.5),
 (9, 'Church Green', 3.0, 'no', 18.0);
INSERT INTO booking VALUES
 (1, 1, 2, '2024-04-06', 310.0),
 (2, 2, 3, '2024-04-06', 845.5),
 (3, 3, 1, '2024-04-06', 622.0),
 (4, 5, 8, '2024-04-06', 401.0),
 (5, 6, 7, '2024-04-06', 530.0),
 (6, 1, 2, '2024-04-13', 285.5),
 (7, 2, 3, '2024-04-13', 910.0),
 (8, 4, 5, '2024-04-13', 148.0),
 (9, 7, 8, '2024-04-13', 275.0),
 (10, 10, 4, '2024-04-13', 715.0),
 (11, 3, 1, '2024-04-20', 590.0),
 (12, 6, 7, '2024-04-20', 688.0),
 (13, 9, 6, '2024-04-20', 196.5),
 (14, 8, 5, '2024-04-20', 87.0),
 (15, 5, 8, '2024-04-20', 455.0),
 (16, 10, 4, '2024-04-27', 760.0),
 (17, 2, 3, '2024-04-27', 780.0),
 (18, 9, 2, '2024-04-27', 244.0),
 (19, 4, 6, '2024-04-27', NULL);
INSERT INTO inspection VALUES
 (1, 2, 'E. Farrow', '2024-01-18', 5),
 (2, 3, 'E. Farrow', '2024-01-18', 4),
 (3, 6, 'J. Stubbs', '2024-02-06', 5),
 (4, 10, 'J. Stubbs', '2024-02-06', 3),
 (5, 1, 'E. Farrow', '2024-02-22', 4),
 (6, 9, 'P. D''Angelo', '2024-03-14', 5),
 (7, 10, 'P. D''Angelo', '2024-03-28', 4),
 (8, 11, 'J. Stubbs', '2024-04-02', 2),
 (9, 2, 'P. D''Angelo', '2024-04-09', 4),
 (10, 11, 'E. Farrow', '2024-05-02', 4);
