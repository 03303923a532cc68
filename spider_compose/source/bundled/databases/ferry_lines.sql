CREATE TABLE port (
  port_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  island TEXT,
  berths INTEGER,
  opened_year INTEGER
);
CREATE TABLE ferry (
  ferry_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  operator TEXT,
  capacity INTEGER, -- passenger capacity
  top_speed REAL,
  launch_year INTEGER
);
CREATE TABLE line (
  line_id INTEGER PRIMARY KEY,
  from_port INTEGER REFERENCES port(port_id), -- departure port
  to_port INTEGER REFERENCES port(port_id), -- destination port
  distance_km REAL, -- distance in kilometres
  ticket_price REAL
);
CREATE TABLE sailing (
  sailing_id INTEGER PRIMARY KEY,
  line_id INTEGER REFERENCES line(line_id),
  ferry_id INTEGER REFERENCES ferry(ferry_id),
  sail_date DATE,
  passengers INTEGER,
  delay_minutes INTEGER, -- delay in minutes
  status TEXT
);
INSERT INTO port VALUES
 (1, 'Port Ellery', 'Great Marrow', 6, 1911),
 (2, 'St. Brannock', 'Great Marrow', 3, 1954),
 (3, 'Gull''s Haven', 'Little Marrow', 2, 1968),
 (4, 'Kestrel Quay', 'Little Marrow', 4, 1987),
 (5, 'Tarn Harbour', 'Ossian', 5, 1936),
 (6, 'North Ossian', 'Ossian', 1, 2004),
 (7, 'Skerrow', 'Skerrow', 2, 1979),
 (8, 'Mainland Pier', NULL, 9, 1888),
 (9, 'Fisher''s Slip', 'Little Marrow', 1, 1992),
 (10, 'Holm', 'Holm', 1, 2011);
INSERT INTO ferry VALUES
 (1, 'Sea Lavender', 'Marrow Line', 420, 18.5, 1998),
 (2, 'Petrel', 'Marrow Line', 180, 22.0, 2006),
 (3, 'Lady Ossian', 'Northway Ferries', 610, 17.2, 1989),
 (4, 'Guillemot', 'Northway Ferries', 95, 27.5, 2015),
 (5, 'Silver Tern', 'Island Hopper', 140, 25.0, 2012),
 (6, 'Old Faithful', 'Island Hopper', 75, 12.4, 1974),
 (7, 'Storm Dancer', 'Marrow Line', 350, 31.0, 2019),
 (8, 'Queen Maude', 'Northway Ferries', 880, 20.1, 2003),
 (9, 'Puffin', 'Island Hopper', 60, 14.0, 1983),
 (10, 'Aurora', 'Bluewater', 520, 24.6, 2021),
 (11, 'Meridian', 'Bluewater', 275, 19.3, 1995),
 (12, 'Kittiwake', 'Marrow Line', 210, 16.8, 1991);
INSERT INTO line VALUES
 (1, 8, 1, 42.5, 28.0),
 (2, 8, 5, 77.0, 46.5),
 (3, 1, 3, 11.2, 9.0),
 (4, 1, 4, 14.8, 10.5),
 (5, 5, 6, 8.6, 6.0),
 (6, 8, 7, 103.4, 61.0),
 (7, 2, 4, 9.9, 8.5),
 (8, 5, 7, 31.7, 22.0),
 (9, 3, 9, 5.1, 4.5),
 (10, 8, 2, 39.0, 26.5);
INSERT INTO sailing VALUES
 (1, 1, 3, '2023-05-02', 512, 0, 'completed'),
 (2, 1, 8, '2023-05-03', 743, 12, 'completed'),
 (3, 2, 8, '2023-05-06', 655, 35, 'completed'),
 (4, 3, 5, '2023-05-04', 88, 4, 'completed'),
 (5, 3, 9, '2023-05-09', 41, 17, 'completed'),
 (6, 4, 2, '2023-05-11', 133, 0, 'completed'),
 (7, 5, 6, '2023-05-14', 52, 21, 'completed'),
 (8, 6, 10, '2023-05-20', 498, 8, 'completed'),
 (9, 6, 10, '2023-05-27', NULL, NULL, 'cancelled'),
 (10, 7, 5, '2023-06-01', 117, 2, 'completed'),
 (11, 8, 7, '2023-06-03', 264, 5, 'completed'),
 (12, 2, 3, '2023-06-05', 580, 48, 'completed'),
 (13, 1, 1, '2023-06-08', 377, 0, 'completed'),
 (14, 1, 1, '2023-06-15', NULL, NULL, 'cancelled'),
 (15, 4, 12, '2023-06-17', 166, 9, 'completed'),
 (16, 5, 9, '2023-06-18', 33, 11, 'completed'),
 (17, 8, 7, '2023-06-24', 312, 14, 'completed'),
 (18, 7, 4, '2023-07-01', 79, 0, 'completed'),
 (19, 10, 8, '2023-07-02', 801, 26, 'completed'),
 (20, 10, 3, '2023-07-09', NULL, NULL, 'cancelled'),
 (21, 2, 8, '2023-07-10', 690, 3, 'completed'),
 (22, 1, 4, '2023-07-15', NULL, NULL, 'cancelled');
